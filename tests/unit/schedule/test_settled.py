"""A settled pass is decided once for the versions of what it looks at, and anew when any of them is another."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from bench.passes import Scene, Store, run_pass
from modelplane.schedule import STEPS, inputs
from modelplane.scheduling import schedule
from modelplane.step import Object
from modelplane.step.call import dispatch
from modelplane.transport import messages
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.structs import decode
from unit.schedule.objects import cache, cluster, deployment, replica

NAME = "settled"
STEP = dispatch("schedule", STEPS)
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


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    yield
    structlog.reset_defaults()


def pass_over(parts: Parts) -> Any:
    """Return the response to the last call of a pass over the wire."""
    bodies = {name: dict(each.body) for name, each in parts.items()}
    composite, seen = bodies.pop("composite"), bodies["replica"]
    observed = {seen["metadata"]["annotations"]["crossplane.io/composition-resource-name"]: seen}
    steps = [("schedule", lambda wire: answer(STEP, Received(wire)))]
    done = run_pass(Scene(composite, observed, Store(bodies.values())), steps)
    return messages.Response.FromString(done.exchanges[-1].response)


def status_of(response: Any) -> Any:
    return decode(response.desired.composite.resource)["status"]


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
    del parts["cluster"]
    assert (before.desired.composite.ready, pass_over(parts).desired.composite.ready) == (1, 2)


def test_what_is_not_settled_is_decided_each_time(decided: Callable[[], int]) -> None:
    parts = scene("waiting", replicas=2)
    for seconds in (10, 20, 40):
        response = pass_over(parts)
        assert (status_of(response)["unplaced"], response.meta.ttl.seconds) == (1, seconds)
        assert decided() > 0
