"""On a cluster that is another one than it was, or another's, nothing new is staged and nothing is removed."""

import copy
from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_cache import caches as given

FOREIGN = ("IdentityChanged", "OtherInstallation")
REASONS = ("IdentityChanged", "DuplicateCluster", "OtherInstallation")


def cluster(reason: str) -> dict[str, Any]:
    found = given.cluster()
    row = {"type": "ClusterReady", "status": "False", "reason": reason, "message": "it is another one"}
    found["status"]["conditions"] = [row]
    return found


@pytest.mark.parametrize("reason", REASONS)
def test_nothing_is_composed_on_such_a_cluster_and_the_cache_says_why(reason: str) -> None:
    result = given.passes(given.cache(), 3, clusters=[cluster(reason)])
    assert result.desired == {}
    row = given.rows(result)["eu-1"]
    assert (row["phase"], row["message"]) == ("Pending", "it is another one")


def specs(result: Result) -> dict[str, Any]:
    return {name: each.build()["spec"] for name, each in result.desired.items()}


def test_what_is_staged_there_stays_and_stays_published() -> None:
    body, seen = given.staged()
    result = given.run(body, seen, clusters=[cluster("DuplicateCluster")])
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert specs(result) == {
        name: found["spec"] for name, found in seen.items() if not name.startswith(("hydration-", "pods-"))
    }


@pytest.mark.parametrize("reason", FOREIGN)
def test_what_is_staged_there_is_only_observed_and_managed_again_afterwards(reason: str) -> None:
    body, seen = given.staged()
    result = given.run(body, seen, clusters=[cluster(reason)])
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert result.desired.keys() == seen.keys(), "nothing is removed there either"
    objects = {name: spec for name, spec in specs(result).items() if not name.startswith("pods-")}
    assert {tuple(spec["managementPolicies"]) for spec in objects.values()} == {("Observe",)}
    later = given.run(body, given.observed(result), clusters=[cluster(reason)])
    assert specs(later) == specs(result)
    back = given.passes(body, 2, given.observed(later), job=given.ended("Complete"))
    assert specs(back) == specs(given.run(body, seen))


@pytest.mark.parametrize("reason", FOREIGN)
def test_a_cluster_that_is_no_longer_selected_keeps_its_objects_until_something_may_be_deleted_there(
    reason: str,
) -> None:
    def deselected(count: int, there: dict[str, Any]) -> Result:
        return given.passes(copy.deepcopy(body), count, seen, clusters=[], **{"cluster-eu-1": [there]})

    body, before = given.staged()
    body["status"] = {}
    seen = before
    away = deselected(3, cluster(reason))
    assert away.desired.keys() == before.keys()
    seen = given.observed(away)
    home = {name: spec for name, spec in specs(deselected(1, given.cluster())).items() if not name.startswith("pods-")}
    assert home.keys() >= set(given.named(away, "PersistentVolumeClaim"))
    assert not any(spec.get("managementPolicies") == ["Observe"] for spec in home.values()), "or its volume would stay"
    assert deselected(3, given.cluster()).desired == {}
    left = cluster(reason)
    left["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
    assert deselected(3, left).desired == {}


@pytest.mark.parametrize("reason", REASONS)
def test_a_download_that_has_begun_there_is_kept_and_none_is_begun(reason: str) -> None:
    body = given.cache()
    running = given.passes(body, 3)
    after = given.run(body, given.observed(running), clusters=[cluster(reason)])
    assert given.named(after, "Job") == given.named(running, "Job")
    fresh = given.cache()
    bound = given.run(fresh)
    assert given.named(given.run(fresh, given.observed(bound), clusters=[cluster(reason)]), "Job") == []


@pytest.mark.parametrize("reason", ["Unreachable", "WaitingForClasses", "ClusterRunning"])
def test_every_other_reason_of_a_cluster_changes_nothing(reason: str) -> None:
    result = given.passes(given.cache(), 2, clusters=[cluster(reason)])
    assert given.named(result, "Job")
