"""A ManagedCluster is made in no network of an earlier one, and is looked at often only while something is awaited."""

from datetime import timedelta
from typing import Any

import pytest

from modelplane.step import ALONE, AWAITING, Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made

Manifest = dict[str, Any]
BEFORE, SAME, AFTER = "2026-01-02T03:04:04Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"


def other(name: str, created: str) -> Manifest:
    """Return another ManagedCluster in the same network."""
    body = made.managed(made.asked_pool(), name=name)
    return {**body, "metadata": {**body["metadata"], "creationTimestamp": created}}


def said(result: Result) -> str:
    return given.condition(result, "CloudReady").message


@pytest.mark.parametrize(
    ("others", "holder"),
    [
        ([], ""),
        ([other("eu-0", BEFORE)], "eu-0"),
        ([other("eu-2", AFTER)], ""),
        ([other("eu-0", SAME)], "eu-0"),
        ([other("eu-2", SAME)], ""),
        ([other("eu-0", AFTER), other("eu-9", BEFORE), other("eu-5", SAME)], "eu-9"),
    ],
)
def test_of_clusters_with_one_network_only_the_first_is_made(others: list[Manifest], holder: str) -> None:
    body = made.managed(made.asked_pool())
    result = made.run(body, others=[body, *others])
    assert bool(result.desired) is not bool(holder)
    if holder:
        assert f"is that of InferenceCluster {holder}, and both would have the same addresses" in said(result)
        assert "network.cidr" in said(result)


def test_a_cluster_that_is_made_stays_whoever_else_has_its_network() -> None:
    body = made.managed(made.asked_pool())
    observed = made.seen(given.bodies(made.run(body)))
    result = made.run(body, observed, others=[body, other("eu-0", BEFORE)])
    assert result.desired.keys() >= observed.keys()
    assert given.condition(result, "CloudReady").status == "True"


@pytest.mark.parametrize("exists", [False, True])
def test_nothing_is_made_or_lost_until_the_networks_of_others_are_known(exists: bool) -> None:
    body = made.managed(made.asked_pool())
    observed = made.seen(given.bodies(made.run(body))) if exists else {}
    result = made.run(body, observed, others=None)
    assert result.desired.keys() == observed.keys()
    assert result.cacheable
    assert said(result) == "the networks of other clusters are not fetched yet"


@pytest.mark.parametrize(
    ("errors", "ready", "ttl"),
    [
        ({}, True, ALONE),
        ({"pool-l4": "Error 429: quota exceeded"}, True, AWAITING),
        ({"cluster": "Error 503"}, False, AWAITING),
    ],
)
def test_a_made_cluster_is_looked_at_seldom_once_nothing_is_awaited(
    errors: dict[str, str], ready: bool, ttl: timedelta
) -> None:
    body = made.managed(made.asked_pool())
    result = made.run(body, made.seen(given.bodies(made.run(body)), errors=errors))
    assert (result.ready, result.ttl, result.cacheable) == (ready, ttl, True)
    assert [name for name in errors if result.desired[name].ready] == []
    assert bool(said(result)) is bool(errors)


def test_the_status_has_only_what_is_known() -> None:
    status = made.run(made.managed(made.asked_pool())).status or {}
    assert None not in status.values()
    assert status["facts"].keys() == {"driverRoot", "podsPerNode"}


@pytest.mark.parametrize("exists", [False, True])
def test_a_refusal_says_what_becomes_of_existing_resources_where_there_are_any(exists: bool) -> None:
    observed = made.seen(given.bodies(made.run(made.managed(made.asked_pool())))) if exists else {}
    result = made.run(made.managed(made.asked_pool(zones=["mars-1-a"])), observed)
    assert given.condition(result, "CloudReady").reason == "InvalidNodePool"
    assert ("Existing resources are unchanged" in said(result)) is exists


def test_a_pool_without_zones_and_reservation_and_a_cluster_without_pools_are_made() -> None:
    plain = {field: each for field, each in made.asked_pool().items() if field != "zones"}
    assert "reservationAffinity" not in str(given.bodies(made.run(made.managed(plain))))
    body = made.managed()
    del body["spec"]["pools"]
    assert "cluster" in made.run(body).desired


def test_resources_of_the_cloud_are_ready_when_they_say_so_and_those_inside_once_they_are_composed() -> None:
    body = made.managed(made.asked_pool())
    observed, first = made.settled(body)
    inside = {name: each for name, each in given.bodies(first).items() if name.startswith("inside-")}
    assert [name for name, each in first.desired.items() if not each.ready] == [*inside]
    again = made.run({**body, "status": first.status}, {**observed, **inside})
    assert all(each.ready for each in again.desired.values())
    assert again.desired.keys() >= inside.keys()
