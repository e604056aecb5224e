"""How a replica that has served goes: its pods finish what they have taken before anything else of it is removed."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import failing, healthy, unreachable
from unit.preview.fakes import TEAM, conditions_of, existing

Body = dict[str, Any]
#: Stands for pods that finish what they have taken: the provider keeps the Object of their workload so long.
PODS = "example.org/pods"


def settled(*objects: Body, world: Any = healthy) -> ControlPlane:
    control = ControlPlane((hardware(), *objects), world=world)
    assert control.settle()
    return control


def workloads(control: ControlPlane) -> list[Body]:
    objects = control.list("Object")
    return [obj for obj in objects if obj["spec"]["forProvider"]["manifest"]["kind"] == "Deployment"]


def keep_pods(control: ControlPlane) -> None:
    """Let the pods of every workload go on when it is deleted."""
    for workload in workloads(control):
        workload["metadata"]["finalizers"] = [PODS]
        control.apply(workload)


def release_pods(control: ControlPlane) -> None:
    """Let the last pods of what is being deleted be gone."""
    for workload in workloads(control):
        if workload["metadata"].get("deletionTimestamp"):
            workload["metadata"]["finalizers"] = []
            control.apply(workload)


def placements(control: ControlPlane) -> list[tuple[str, int, bool]]:
    entries = existing(control, "ModelDeployment", TEAM, "chat")["status"]["placements"]
    return [(entry["cluster"], entry["index"], entry["leaving"]) for entry in entries]


def kinds(control: ControlPlane, name: str) -> set[str]:
    """Return the kinds of what a replica has on its cluster, without what is being deleted."""
    refs = existing(control, "ModelReplica", TEAM, name)["spec"]["crossplane"]["resourceRefs"]
    objects = [existing(control, "Object", TEAM, ref["name"]) for ref in refs if ref["kind"] == "Object"]
    return {each["spec"]["forProvider"]["manifest"]["kind"] for each in objects}


def ending(control: ControlPlane) -> list[str]:
    return [each["metadata"]["name"] for each in control.list("ModelReplica") if each["spec"].get("ending")]


@pytest.mark.proves("R41")
def test_a_replica_that_has_served_ends_when_its_last_pod_is_gone_and_not_before() -> None:
    control = settled(cluster("east", nodes=2), deployment(replicas=2))
    keep_pods(control)
    control.apply(deployment(replicas=1))
    for _ in range(3):
        assert control.settle()
        assert placements(control) == [("east", 0, False), ("east", 1, True)]
    (name,) = ending(control)
    assert {"Service", "HTTPRoute", "ResourceClaimTemplate"} <= kinds(control, name)
    assert "Deployment" not in kinds(control, name)
    assert existing(control, "ModelEndpoint", TEAM, name)["spec"]["leaving"] is True
    assert existing(control, "ModelDeployment", TEAM, "chat")["status"]["replicas"]["total"] == 1
    release_pods(control)
    assert control.settle()
    assert placements(control) == [("east", 0, False)]
    assert [len(control.list(kind)) for kind in ("ModelReplica", "ModelEndpoint")] == [1, 1]


@pytest.mark.proves("R41")
def test_an_ending_replica_is_charged_until_its_last_pod_is_gone() -> None:
    control = settled(cluster("east"), deployment())
    keep_pods(control)
    control.apply(deployment(replicas=0))
    control.apply(deployment("other"))
    assert control.settle()
    other = existing(control, "ModelDeployment", TEAM, "other")
    assert conditions_of(other)["ReplicasScheduled"][:2] == ("False", "InsufficientCapacity")
    release_pods(control)
    assert control.settle()
    assert conditions_of(existing(control, "ModelDeployment", TEAM, "other"))["ReplicasReady"][0] == "True"


@pytest.mark.proves("R41")
def test_an_ending_replica_never_comes_back_and_its_index_is_taken_until_it_is_gone() -> None:
    control = settled(cluster("east", nodes=3), deployment(replicas=2))
    keep_pods(control)
    control.apply(deployment(replicas=1))
    assert control.settle()
    control.apply(deployment(replicas=2))
    assert control.settle()
    assert placements(control) == [("east", 0, False), ("east", 1, True), ("east", 2, False)]
    release_pods(control)
    assert control.settle()
    assert placements(control) == [("east", 0, False), ("east", 2, False)]


def test_what_never_served_goes_at_once() -> None:
    control = settled(cluster("east", nodes=2), deployment(replicas=2), world=failing(lambda _: "no such image"))
    keep_pods(control)
    control.apply(deployment(replicas=1))
    assert control.settle()
    assert (placements(control), ending(control)) == ([("east", 0, False)], [])


@pytest.mark.proves("R41")
@pytest.mark.parametrize("abandoned", [False, True], ids=["a cluster that does not answer", "one that is abandoned"])
def test_nothing_waits_for_pods_on_a_cluster_that_does_not_answer(abandoned: bool) -> None:
    control = settled(cluster("east"), deployment())
    if abandoned:
        lost = cluster("east")
        lost["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
        control.apply(lost)
    control.world = unreachable({"east"})
    assert control.settle()
    control.apply(deployment(replicas=0))
    assert control.settle()
    assert (placements(control), control.list("ModelReplica")) == ([], [])


def test_what_ends_on_a_cluster_that_is_given_up_meanwhile_goes() -> None:
    control = settled(cluster("east"), deployment())
    keep_pods(control)
    control.apply(deployment(replicas=0))
    assert control.settle()
    assert placements(control) == [("east", 0, True)]
    control.world = unreachable({"east"})
    assert control.settle()
    assert placements(control) == [("east", 0, True)]
    lost = cluster("east")
    lost["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
    control.apply(lost)
    assert control.settle()
    assert placements(control) == []


def test_a_rollout_that_surges_ends_the_old_one_once_the_new_one_serves() -> None:
    control = settled(cluster("east", nodes=2), deployment())
    keep_pods(control)
    edited = deployment()
    edited["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "example.org/engine:v2"
    control.apply(edited)
    assert control.settle()
    assert placements(control) == [("east", 0, True), ("east", 1, False)]
    release_pods(control)
    assert control.settle()
    assert placements(control) == [("east", 1, False)]
