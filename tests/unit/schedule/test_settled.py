"""A settled pass is decided once for the versions of what it looks at, and anew when any of them is another."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from modelplane import __version__
from modelplane.schedule import inputs
from modelplane.schedule.settled import input_versions
from modelplane.scheduling import schedule
from modelplane.step import Object, Request
from unit.schedule.objects import Server, cache, cluster, deployment, replica, run

NAME = "settled"
Parts = dict[str, Object]


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that tells how often the scheduler was asked since it was called last."""
    calls = [0]

    def counted(*args: Any) -> Any:
        calls[0] += 1
        return schedule(*args)

    def so_far() -> int:
        found, calls[0] = calls[0], 0
        return found

    monkeypatch.setattr(inputs, "schedule", counted)
    return so_far


def scene(name: str, **spec: Any) -> Parts:
    """Return a deployment of this name with one replica that serves, its cluster, and its cache."""
    return {
        "composite": deployment(name, modelCacheRef={"name": "weights"}, **spec),
        "replica": replica("a", owner=name, spec={"modelCacheRef": {"name": "weights"}}),
        "cluster": cluster("a"),
        "cache": cache(status={"summary": "1/1", "clusterSelector": {}}),
    }


def pass_over(parts: Parts) -> Any:
    return run(parts["composite"], Server(parts["cluster"], parts["cache"], parts["replica"]), parts["replica"])[0]


def test_the_second_pass_over_the_same_versions_asks_the_scheduler_nothing(decided: Callable[[], int]) -> None:
    first = pass_over(scene("same"))
    assert decided() > 0
    assert pass_over(scene("same")) == first
    assert decided() == 0


CHANGES = {
    "the deployment": {"composite": deployment(NAME, modelCacheRef={"name": "weights"}, rollout={"paused": True})},
    "a replica": {"replica": replica("a", owner=NAME, metadata={"resourceVersion": "2"})},
    "a cluster": {"cluster": cluster("a", nodes=2)},
    "the cache": {"cache": cache(status={"summary": "2/2", "clusterSelector": {}})},
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_a_change_of_anything_that_a_pass_looks_at_is_decided_on(decided: Callable[[], int], changed: Parts) -> None:
    pass_over(scene(NAME))
    pass_over(scene(NAME))
    decided()
    pass_over(scene(NAME) | changed)
    assert decided() > 0


def test_a_cluster_that_is_gone_is_decided_on_although_nothing_else_changed() -> None:
    parts = scene("gone")
    before = pass_over(parts)
    result, _ = run(parts["composite"], Server(parts["cache"], parts["replica"]), parts["replica"])
    assert (before.ready, result.ready) == (True, False)


def test_what_is_not_settled_is_decided_each_time(decided: Callable[[], int]) -> None:
    parts = scene("waiting", replicas=2)
    for _ in range(2):
        assert pass_over(parts).status["unplaced"] == 1
        assert decided() > 0


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
