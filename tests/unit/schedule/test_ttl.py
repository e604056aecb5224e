"""How soon a deployment is looked at again: what has been found in this process so far counts, and no clock."""

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from modelplane import __version__
from modelplane.model.deployment import Deployment
from modelplane.model.placement import Schedule
from modelplane.observed.deployment import read_deployment
from modelplane.schedule import STEPS, ttl
from modelplane.schedule.ttl import input_versions, response_ttl
from modelplane.step import Object, Request
from unit.schedule.objects import Server, cluster, deployment, replica, run

pytestmark = pytest.mark.proves("R12")

UNPLACED = Schedule(replicas=1, unplaced=1)
SMALL = cluster("a", memory="24Gi")
_NUMBERS = count()


def fresh() -> Object:
    """Return a deployment that no pass of this process has seen."""
    return deployment(f"fresh-{next(_NUMBERS)}")


def seconds(composite: Object, schedule: Schedule, observed: Iterable[Object], **required: tuple[Object, ...]) -> float:
    seen = {obj.metadata["name"]: obj for obj in observed}
    asked = read_deployment(composite)
    assert isinstance(asked, Deployment)
    return response_ttl(Request(composite, observed=seen, required=required), asked, schedule).total_seconds()


def passes(composite: Object, *fleets: tuple[Object, ...]) -> list[timedelta]:
    return [run(composite, Server(*fleet))[0].ttl for fleet in fleets]


def test_passes_that_find_the_same_come_half_as_often_each_time_up_to_a_minute() -> None:
    found = passes(fresh(), *[(SMALL,)] * 6)
    assert [ttl.total_seconds() for ttl in found] == [10, 20, 40, 60, 60, 60]


def test_a_change_of_anything_that_was_looked_at_begins_again() -> None:
    larger, taken = cluster("a", memory="80Gi"), cluster("a", memory="80Gi", status={"replicas": 1})
    fleets = [(SMALL,), (SMALL,), (larger,), (larger,), (taken,), (taken,), (larger,)]
    assert [ttl.total_seconds() for ttl in passes(fresh(), *fleets)] == [10, 20, 10, 20, 10, 20, 10]


def test_a_replica_that_does_not_serve_yet_is_waited_for_in_the_same_way() -> None:
    composite = fresh()
    starting, started = (replica("a", owner=composite.name, served=served) for served in (False, True))
    fleet = Server(cluster("a"), starting)
    found = [run(composite, fleet, each)[0].ttl for each in (starting, starting, started)]
    assert [ttl.total_seconds() for ttl in found] == [10, 20, 60]


def test_the_order_in_which_objects_are_listed_is_no_change() -> None:
    composite, one, two = fresh(), cluster("a"), cluster("b")
    found = [seconds(composite, UNPLACED, (), candidates=listed) for listed in ((one, two), (two, one))]
    assert found == [10, 20]


def test_what_the_step_does_not_look_at_is_no_change() -> None:
    composite = fresh()
    endpoints = [Object({"kind": "ModelEndpoint", "metadata": {"name": "e"}}, version) for version in ("1", "2")]
    assert [seconds(composite, UNPLACED, [endpoint]) for endpoint in endpoints] == [10, 20]


@pytest.mark.parametrize("before", [(SMALL,), ()], ids=["fetched, and there", "fetched, and absent"])
def test_each_deployment_counts_for_itself(before: tuple[Object, ...]) -> None:
    one, other = fresh(), fresh()
    found = [passes(each, before)[0].total_seconds() for each in (one, one, other, one, other)]
    assert found == [10, 20, 10, 40, 20]


def test_a_settled_deployment_is_looked_at_once_a_minute_from_the_first() -> None:
    assert [seconds(fresh(), Schedule(replicas=0), ()) for _ in range(2)] == [60, 60]


def test_as_many_deployments_are_remembered_as_fit_and_the_others_begin_again() -> None:
    composite = fresh()
    asked = read_deployment(composite)
    assert isinstance(asked, Deployment)
    assert seconds(composite, UNPLACED, ()) == 10
    for number in range(5000):
        response_ttl(Request(composite), replace(asked, uid=f"another-{number}"), UNPLACED)
    assert seconds(composite, UNPLACED, ()) == 10
    assert len(ttl._LAST._kept) < 2100


def test_a_call_that_only_asks_for_inputs_is_not_counted() -> None:
    composite = fresh()
    for _ in range(3):
        assert STEPS["ModelDeployment"](Request(composite)).ttl == timedelta(seconds=10)
    assert passes(composite, (SMALL,)) == [timedelta(seconds=10)]


#: What of a request no decision follows from: what earlier steps desire, and which kinds there are.
NOT_LOOKED_AT = {"desired_names", "schemas"}
OTHER: dict[str, Any] = {
    "composite": deployment("other"),
    "observed": {"replica-a-0": replica("a")},
    "required": {"cluster-a": ()},
    "context": {"modelplane.ai/schedule-rounds": "[2,[]]"},
    "version": __version__,
}


def test_a_decision_follows_from_every_field_of_a_request_but_those_that_no_pass_looks_at() -> None:
    assert {each.name for each in fields(Request)} == OTHER.keys() | NOT_LOOKED_AT
    before = Request(deployment())
    for name, value in OTHER.items():
        assert input_versions(replace(before, **{name: value})) != input_versions(before), name
