"""Every input absent, malformed, half-written or deleted: what serves stays, and the status says why."""

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane import compose_endpoint, compose_replica
from modelplane.composing.placement_message import PlacementMessage, read_placements
from modelplane.schedule import STEPS
from modelplane.step import Object, Request, Result, Step
from unit.schedule.objects import BIG, TEMPLATE, Server, cache, cluster, deployment, member, replica, run

Steps = Mapping[str, Step]
CACHED: dict[str, Any] = {"modelCacheRef": {"name": "weights"}}
DEAD: dict[str, Any] = {"metadata": {"deletionTimestamp": "2026-01-02T00:00:00Z"}}
NOT_READY: dict[str, Any] = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}


def messages(result: Result) -> tuple[PlacementMessage, ...]:
    found = read_placements(Request(Object({}, ""), context=result.context))
    assert found is not None
    return found


SERVED_INPUTS: dict[str, tuple[dict[str, Any], tuple[Object, ...]]] = {
    "cluster absent": ({}, ()),
    "cluster being deleted": ({}, (cluster("a", **DEAD),)),
    "cluster not Ready": ({}, (cluster("a", **NOT_READY),)),
    "cluster without a status": ({}, (cluster("a", status={"conditions": None, "gateway": None, "gpuPools": None}),)),
    "cluster with a malformed status": ({}, (cluster("a", status={"gateway": 1, "gpuPools": [{"nodes": "x"}]}),)),
    "pool gone": ({}, (cluster("a", status={"gpuPools": [{"name": "renamed", "nodes": 1, "devices": []}]}),)),
    "pool of no nodes": ({}, (cluster("a", nodes=0),)),
    "cluster no longer selected": ({"clusterSelector": {"matchLabels": {"region": "mars"}}}, (cluster("a"),)),
    "cache absent": (CACHED, (cluster("a"),)),
    "cache that knows no clusters yet": (CACHED, (cluster("a"), cache())),
    "cache with a malformed selector": (
        CACHED,
        (cluster("a"), cache(spec={"clusterSelector": []}, status={"clusters": []})),
    ),
    "cache that selects other clusters": (
        CACHED,
        (cluster("a"), cache(spec={"clusterSelector": {"matchLabels": {"region": "us"}}}, status={"clusters": []})),
    ),
    "selector that does not compile": (
        {"engines": [{"name": "main", "members": [member("device.")]}]},
        (cluster("a"),),
    ),
    "selector that matches nothing": ({"engines": [{"name": "main", "members": [member("false")]}]}, (cluster("a"),)),
    "engine renamed": ({"engines": [{"name": "other", "members": [member()]}]}, (cluster("a"),)),
}


@pytest.mark.proves("R40")
@pytest.mark.parametrize(("spec", "objects"), SERVED_INPUTS.values(), ids=SERVED_INPUTS)
def test_a_serving_replica_is_composed_again_whatever_happens_to_its_inputs(
    spec: dict[str, Any], objects: tuple[Object, ...]
) -> None:
    own = replica("a")
    result, _ = run(deployment(**spec), Server(*objects, own), own)
    assert result.fatal is None
    assert [(placed.resource, placed.name) for placed in messages(result)] == [("replica-a-0", own.name)]


UNREADABLE = {
    "deployment without spec": (Object({"kind": "ModelDeployment", "metadata": {"name": "qwen"}}, "1"), (), "spec"),
    "deployment without engines": (deployment(engines=None), (), "spec.engines"),
    "deployment with an unknown role": (
        deployment(engines=[{"name": "main", "members": [member(role="Pilot")]}]),
        (),
        "spec.engines[0].members[0].role",
    ),
    "own replica without a cluster": (deployment(), (replica("a", spec={"clusterName": None}),), "spec.clusterName"),
    "own replica without engines": (deployment(), (replica("a", spec={"engines": "x"}),), "spec.engines"),
}


@pytest.mark.proves("R40")
@pytest.mark.parametrize(("composite", "observed", "field"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_fatal_and_names_the_field_so_that_nothing_changes(
    composite: Object, observed: tuple[Object, ...], field: str
) -> None:
    result, _ = run(composite, Server(cluster("a")), *observed)
    assert result.fatal is not None
    assert f"{field}: " in result.fatal


@pytest.mark.parametrize("later", [compose_replica.STEPS, compose_endpoint.STEPS], ids=["replica", "endpoint"])
def test_before_anything_is_fetched_nothing_is_said_and_a_later_step_would_change_nothing(later: Steps) -> None:
    observed = {"replica-a-0": replica("a")}
    result = STEPS["ModelDeployment"](Request(deployment(), observed=observed))
    assert (result.status, result.conditions, result.fatal) == (None, (), None)
    after = later["ModelDeployment"](Request(deployment(), observed=observed, context=result.context))
    assert after.fatal is not None


WORDS = {
    "no cluster": ({}, (), "ReplicasScheduled", "NoClusters", "0 of 1 replicas scheduled"),
    "too small": ({}, (cluster("a", memory="24Gi"),), "ReplicasScheduled", "InsufficientCapacity", "24Gi"),
    "cache absent": (CACHED, (cluster("a"),), "ModelCacheResolved", "ModelCacheNotFound", "no ModelCache weights"),
    "cache unresolved": (CACHED, (cluster("a"), cache()), "ModelCacheResolved", "ModelCacheUnresolved", "weights"),
    "cache waits": (CACHED, (cluster("a"), cache()), "ReplicasScheduled", "WaitingForCache", "weights"),
    "bad selector": (
        {"engines": [{"name": "main", "members": [member("device.\n  x(")]}]},
        (cluster("a"),),
        "ReplicasScheduled",
        "InvalidNodeSelector",
        "main",
    ),
}


@pytest.mark.parametrize(("spec", "objects", "kind", "reason", "words"), WORDS.values(), ids=WORDS)
def test_what_is_missing_is_a_condition_with_the_reason_in_words(
    spec: dict[str, Any], objects: tuple[Object, ...], kind: str, reason: str, words: str
) -> None:
    result, _ = run(deployment(**spec), Server(*objects))
    found = next(condition for condition in result.conditions if condition.type == kind)
    assert (found.status, found.reason) == ("False", reason)
    assert words in found.message


def test_a_ready_deployment_says_that_a_cluster_does_not_answer_as_the_replica_there_says_it() -> None:
    words = "last known state, not in sync since 2026-01-02T00:00:00Z: connection refused"
    ready, doubt = {"type": "Ready", "status": "True"}, {"type": "ModelReady", "status": "True", "message": words}
    own = replica("a", status={"conditions": [ready, doubt]})
    result, _ = run(deployment(), Server(cluster("a"), own), own)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert (found.status, found.message) == ("True", f"1 of 1 replicas ready; {own.name}: {words}")


def test_a_lost_replica_that_only_the_fleet_shows_is_composed_again_with_its_own_spec() -> None:
    lost = replica("a", metadata={"name": "by-hand-kept"})
    server = Server(cluster("a", nodes=2), lost)
    result, _ = run(deployment(replicas=2), server)
    kept = next(placed for placed in messages(result) if placed.name == "by-hand-kept")
    assert (kept.resource, kept.cluster, kept.index) == ("replica-a-0", "a", 0)


def test_a_new_replica_carries_its_pool_its_device_classes_and_the_address_of_its_cluster() -> None:
    nic = {"name": "nic", "count": 1, "selectors": [{"cel": BIG}]}
    both = {"name": "gpu", "count": 1, "selectors": [{"cel": BIG}]}
    members = [{"nodeSelector": {"devices": [both, nic]}, "template": TEMPLATE}]
    result, _ = run(deployment(engines=[{"name": "main", "members": members}]), Server(cluster("a")))
    (placed,) = messages(result)
    (engine,) = placed.engines
    assert (engine.name, engine.pool) == ("main", "pool")
    claims = [(claim.name, claim.device_class) for claim in engine.members[0].claims]
    assert sorted(claims) == [("gpu", "gpu.nvidia.com"), ("nic", "gpu.nvidia.com")]
    assert placed.address == "a.example.org"


def test_a_deployment_whose_serving_replicas_have_to_move_does_not_say_that_nothing_is_placed() -> None:
    own = replica("a")
    result, _ = run(deployment(), Server(cluster("a", memory="40Gi"), own), own)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert (found.status, found.reason) == ("False", "Degraded")
    assert "1 that has to move still serves" in found.message


def test_many_new_replicas_are_one_event_that_counts_them_by_cluster() -> None:
    fleet = [cluster(f"c{index:02}", nodes=2) for index in range(12)]
    result, _ = run(deployment(replicas=24), Server(*fleet))
    (event,) = result.events
    assert event.message.startswith("Placed replicas: 2 on c00, 2 on c01, ")
    assert event.message.endswith("2 on c09 and 2 more clusters")
