"""A spec that was stored before a bound was: named, never matched, and what it runs is held."""

from typing import Any

import pytest

from modelplane import cel
from modelplane.model.conditions import Reason
from modelplane.model.fleet import Device
from modelplane.model.placement import Stamp
from modelplane.step import Object
from unit.schedule.objects import Server, cluster, deployment, member, replica, run
from unit.schedule.test_states import messages

#: What no other test asks a device.
UNSEEN = 'device.driver != "unseen.example.com"'


def devices(selectors: int, requests: int = 1) -> list[dict[str, Any]]:
    return [{"name": f"r{number}", "selectors": [{"cel": UNSEEN}] * selectors} for number in range(requests)]


def wanting(*requests: list[dict[str, Any]]) -> dict[str, Any]:
    members = [{**member(), "nodeSelector": {"devices": each}} for each in requests]
    return {"engines": [{"name": f"e{number}", "members": [one]} for number, one in enumerate(members)]}


MANY = wanting(*[devices(8, 16)] * 3)
LONG = wanting([{"name": "gpu", "selectors": [{"cel": UNSEEN + " " * 10_000}] * 4}])
LARGE = {
    "engines": [
        {
            "name": "main",
            "members": [
                member(template={"spec": {"containers": [{"name": "engine", "image": "vllm:1", "args": ["a"] * 257}]}})
            ],
        }
    ]
}
LONG_WORDS = {
    "engines": [
        {
            "name": name,
            "members": [
                member(
                    template={
                        "spec": {"containers": [{"name": "engine", "image": "vllm:1", "args": ["a" * 65_536] * 2}]}
                    }
                )
            ],
        }
        for name in ("a", "b", "c")
    ]
}

OVER_BOUND: dict[str, tuple[dict[str, Any], str]] = {
    "selectors": (MANY, "spec.engines has 384 selectors, and at most 256 are allowed; make it smaller"),
    "characters of selectors": (
        LONG,
        f"spec.engines has {4 * (len(UNSEEN) + 10_000)} characters of CEL, and at most 32768 are allowed; "
        "make it smaller",
    ),
    "characters of pods": (
        LONG_WORDS,
        "spec.engines has 393216 characters of command, args, env and annotations, and at most 262144 are allowed; "
        "make it smaller",
    ),
    "a list of the API": (
        LARGE,
        "spec.engines[main].members[0].template.spec.containers[0].args has 257 entries, and at most 256 are allowed; "
        "make it smaller",
    ),
}


def scheduled(result: Any) -> tuple[str, str]:
    (found,) = (each for each in result.conditions if each.type == "ReplicasScheduled")
    return found.reason, found.message


@pytest.mark.parametrize(("spec", "words"), OVER_BOUND.values(), ids=OVER_BOUND)
def test_a_spec_over_a_bound_is_named_and_holds_what_runs(spec: dict[str, Any], words: str) -> None:
    own = replica("a"), replica("a", 1, served=False)
    result, _ = run(deployment(replicas=2, **spec), Server(cluster("a", nodes=4), *own), *own)
    assert result.fatal is None
    assert scheduled(result) == (Reason.INVALID_ENGINE, f"2 of 2 replicas scheduled: {words}")
    assert [(placed.resource, placed.stamp) for placed in messages(result)] == [
        ("replica-a-0", Stamp.HOLD),
        ("replica-a-1", Stamp.HOLD),
    ]


@pytest.mark.parametrize(("spec", "words"), OVER_BOUND.values(), ids=OVER_BOUND)
def test_a_spec_over_a_bound_places_nothing_new_and_scales_down(spec: dict[str, Any], words: str) -> None:
    own = replica("a"), replica("a", 1)
    server = Server(cluster("a", nodes=4), *own)
    result, _ = run(deployment(replicas=3, **spec), server, *own)
    assert len(messages(result)) == 2
    assert scheduled(result) == (Reason.INVALID_ENGINE, f"2 of 3 replicas scheduled: {words}")
    assert "candidates" not in server.asked
    fewer = messages(run(deployment(replicas=1, **spec), server, *own)[0])
    assert [message.ending for message in fewer] == [False, True]


def test_no_selector_of_a_spec_over_a_bound_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_nothing(_text: str) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(cel, "compiled", compile_nothing)
    own = replica("a")
    result, _ = run(deployment(**MANY), Server(cluster("a"), own), own)
    assert scheduled(result)[0] == Reason.INVALID_ENGINE


def large_replica() -> Object:
    """Return a replica written by hand with more selectors than are looked into, on the pool of cluster a."""
    requests = [{**each, "deviceClassName": "gpu.nvidia.com"} for each in devices(8, 16)]
    engines = [
        {"name": f"e{number}", "members": [{"nodePoolName": "pool", "deviceRequests": requests}]} for number in range(3)
    ]
    return replica("a", owner="hand", spec={"engines": engines})


@pytest.mark.proves("R29")
@pytest.mark.parametrize(("nodes", "placed"), [(3, 0), (4, 1)])
def test_a_replica_over_a_bound_is_charged_whole_nodes_without_looking_further(
    nodes: int, placed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = set()
    found = cel.verdict

    def verdict(text: str, device: Device) -> cel.Verdict:
        looked.add(text)
        return found(text, device)

    monkeypatch.setattr(cel, "verdict", verdict)
    small = deployment(engines=[{"name": "main", "members": [member("true", count=1)]}])
    result, _ = run(small, Server(cluster("a", nodes=nodes), large_replica()))
    assert len(messages(result)) == placed
    assert UNSEEN not in looked
