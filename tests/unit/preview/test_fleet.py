"""The product's own functions on a small fleet, from manifests to a fixed point."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from unit.preview.fakes import conditions_of, existing

FLEET = (hardware(), cluster("east"), cluster("west"))


def settled(*objects: Any) -> ControlPlane:
    control = ControlPlane(objects)
    assert control.settle()
    return control


def raced() -> ControlPlane:
    """Return a control plane where two deployments took the same room from a view that is older than either."""
    control = settled(hardware(), cluster("east"), cluster("west", nodes=0))
    view = control.view()
    for name in ("older", "younger"):
        control.apply(deployment(name))
    for name in ("older", "younger"):
        control.reconcile("ModelDeployment", "team", name, view)
        control.reconcile("ModelDeployment", "team", name, view)
    return control


def placements(control: ControlPlane, name: str = "chat") -> list[tuple[str, bool]]:
    """Return a deployment's placements that are not leaving: cluster, and whether it is ready."""
    found = control.get("ModelDeployment", "team", name)
    assert found is not None
    return [(entry["cluster"], entry["ready"]) for entry in found["status"]["placements"] if not entry["leaving"]]


def test_in_a_healthy_world_everything_becomes_ready() -> None:
    control = settled(*FLEET, deployment(replicas=2))
    assert placements(control) == [("east", True), ("west", True)]
    for kind, namespace in (("InferenceClass", None), ("InferenceCluster", None), ("ModelDeployment", "team")):
        for obj in control.list(kind):
            found = control.get(kind, namespace, obj["metadata"]["name"])
            unwell = {name for name, reported in conditions_of(found).items() if reported[0] != "True"}
            # These say that something is under way or amiss.
            assert unwell <= {"RolloutProgressing", "PlacementDrifted"}


def test_a_deployment_that_goes_takes_everything_with_it() -> None:
    control = settled(*FLEET, deployment(replicas=2))
    before = {obj["kind"] for obj in settled(*FLEET).everything()}
    assert control.delete("ModelDeployment", "team", "chat")
    assert {obj["kind"] for obj in control.everything()} == before


def test_scaling_down_and_up_again_ends_where_it_began() -> None:
    control = settled(*FLEET, deployment(replicas=2))
    names = [obj["metadata"]["name"] for obj in control.list("ModelReplica")]
    for replicas, expected in ((0, 0), (1, 1), (2, 2)):
        control.apply(deployment(replicas=replicas))
        assert control.settle()
        assert len(control.list("ModelReplica")) == expected
    assert [obj["metadata"]["name"] for obj in control.list("ModelReplica")] == names


def test_two_that_took_the_same_room_from_an_old_view_do_not_both_keep_it() -> None:
    control = raced()
    assert len(control.list("ModelReplica")) == 2
    assert control.settle()
    assert (placements(control, "older"), placements(control, "younger")) == ([("east", True)], [])


def test_a_replica_that_gave_way_is_not_brought_back_by_a_view_that_still_shows_it() -> None:
    control = raced()
    view = control.view()
    for _ in range(2):
        control.reconcile("ModelDeployment", "team", "younger", view)
    assert [obj["metadata"]["labels"]["modelplane.ai/deployment"] for obj in control.list("ModelReplica")] == ["older"]


def test_a_cluster_that_is_being_deleted_stays_until_its_replicas_have_moved() -> None:
    control = settled(hardware(), cluster("east"), deployment())
    assert control.delete("InferenceCluster", None, "east")
    assert control.settle()
    assert [obj["spec"]["clusterName"] for obj in control.list("ModelReplica")] == ["east"]
    assert "deletionTimestamp" in existing(control, "InferenceCluster", None, "east")["metadata"]
    control.apply(cluster("west"))
    assert control.settle()
    assert placements(control) == [("west", True)]
    assert control.get("InferenceCluster", None, "east") is None


def test_a_class_in_use_cannot_be_deleted() -> None:
    control = settled(*FLEET)
    assert control.delete("InferenceClass", None, "gpu-class") is False


def published(name: str, **status: Any) -> dict[str, Any]:
    """Return a cluster that says itself what it has; its class does not exist."""
    gpu = {"name": "gpu", "driver": "gpu.example.org", "deviceClassName": "gpu.example.org", "count": 8}
    pool = {"name": "pool", "nodes": 1, "devices": [{**gpu, "capacity": {"memory": {"value": "80Gi"}}}]}
    ready = {"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    conditions_of = {"gpuPools": [pool], "gateway": {"address": "192.0.2.1"}, "conditions": [ready], **status}
    return {**cluster(name), "status": conditions_of}


def test_a_cluster_that_came_with_a_status_is_taken_at_its_word() -> None:
    control = settled(published("east"), deployment())
    assert [name for name, _ in placements(control)] == ["east"]
    assert existing(control, "InferenceCluster", None, "east")["status"] == published("east")["status"]


def test_a_patch_of_such_a_cluster_stays_and_takes_nothing_serving_away() -> None:
    control = settled(published("east", providerConfigRef={"name": "east"}), deployment())
    assert placements(control) == [("east", True)]
    control.patch_status("InferenceCluster", None, "east", {"conditions": [], "gateway": None})
    assert control.settle()
    assert "gateway" not in existing(control, "InferenceCluster", None, "east")["status"]
    assert placements(control) == [("east", True)]


def test_such_a_cluster_is_edited_together_with_its_status() -> None:
    repelling = published("east")
    repelling["spec"]["taints"] = [{"key": "maintenance", "effect": "NoSchedule"}]
    control = settled(repelling, deployment())
    assert placements(control) == []
    control.apply(published("east"))
    assert control.settle()
    assert [name for name, _ in placements(control)] == ["east"]


def test_a_cluster_that_is_read_edited_and_handed_back_publishes_anew() -> None:
    control = settled(hardware(), cluster("east"))
    edited = control.get("InferenceCluster", None, "east")
    assert edited is not None
    edited["spec"]["nodePools"][0]["nodeCount"] = 3
    control.apply(edited)
    assert control.settle()
    assert [pool["nodes"] for pool in existing(control, "InferenceCluster", None, "east")["status"]["gpuPools"]] == [3]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_in_which_a_fleet_is_read_changes_no_placement(reverse: bool) -> None:
    objects = [*FLEET, cluster("north"), deployment(replicas=2)]
    control = settled(*(reversed(objects) if reverse else objects))
    expected = settled(*objects)
    assert placements(control) == placements(expected)
