"""A deployment says of the clusters of its replicas which it cannot reach, and nothing moves for that."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy, unreachable
from unit.preview.fakes import TEAM, conditions_of, existing
from unit.schedule.objects import Server, replica, run
from unit.schedule.objects import cluster as observed_cluster
from unit.schedule.objects import deployment as observed_deployment


def settled(*objects: Any) -> ControlPlane:
    control = ControlPlane((hardware(), *objects), world=healthy)
    assert control.settle()
    return control


def replicas_ready(control: ControlPlane) -> tuple[str, str, str]:
    return conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["ReplicasReady"]


def placed(control: ControlPlane) -> list[tuple[str, bool]]:
    entries = existing(control, "ModelDeployment", TEAM, "chat")["status"]["placements"]
    return [(entry["cluster"], entry["leaving"]) for entry in entries]


@pytest.mark.proves("R92", "P81")
def test_a_cluster_that_does_not_answer_is_named_once_with_its_replicas_which_stay_placed() -> None:
    control = settled(cluster("east", nodes=2), cluster("west"), deployment(replicas=3))
    before = placed(control)
    control.world = unreachable({"east"})
    assert control.settle()
    status, reason, message = replicas_ready(control)
    assert (status, reason, placed(control)) == ("Unknown", "ClusterUnreachable", before)
    assert message.startswith(
        "3 of 3 replicas ready; cluster east does not answer, 2 replicas there, 2 ready when last seen "
        "(Namespace kube-system is not in sync since "
    )
    assert message.endswith(
        "cannot reach cluster east): restore the connection, or taint InferenceCluster east NoExecute to place them "
        "elsewhere"
    )
    assert message.count("does not answer") == 1
    rollout = conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["RolloutProgressing"]
    assert rollout[:2] == ("False", "RolloutComplete")
    assert rollout[2].startswith("1 of 3 replicas at revision ")
    assert rollout[2].endswith("; 2 more are updated but not confirmed to serve")
    assert conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["Ready"][0] == "False"


def test_whose_taint_the_deployment_tolerates_is_told_to_tolerate_it_no_longer() -> None:
    taint = {"key": "maintenance", "effect": "NoExecute"}
    tolerant = deployment()
    tolerant["spec"]["tolerations"] = [{"key": "maintenance", "operator": "Exists"}]
    control = settled(cluster("east", taints=[taint]), tolerant)
    control.world = unreachable({"east"})
    assert control.settle()
    message = replicas_ready(control)[2]
    assert message.endswith("restore the connection, or remove its taint from spec.tolerations to place them elsewhere")


def test_a_cluster_that_answers_again_makes_the_deployment_ready_again() -> None:
    control = settled(cluster("east"), deployment())
    control.world = unreachable({"east"})
    assert control.settle()
    assert replicas_ready(control)[0] == "Unknown"
    control.world = healthy
    assert control.settle()
    assert replicas_ready(control)[:2] == ("True", "AllReplicasReady")


@pytest.mark.proves("P82")
def test_a_cluster_whose_gateway_has_lost_its_address_cannot_be_reached() -> None:
    own, lost = replica("a"), observed_cluster("a", status={"gateway": None})
    result, _ = run(observed_deployment(), Server(lost, own), own)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert (found.status, found.reason, result.ready) == ("Unknown", "ClusterUnreachable", False)
    words = "the gateway of cluster a has lost its address, 1 replica there, 1 ready when last seen"
    assert found.message == f"1 of 1 replicas ready; {words}: restore the gateway"
    assert [each["name"] for each in (result.status or {})["placements"]] == [own.name]


def test_what_is_known_of_the_other_replicas_is_said_beside_the_clusters_that_cannot_be_reached() -> None:
    starting = replica("b", served=False)
    own, lost = (replica("a"), starting), observed_cluster("a", status={"gateway": None})
    result, _ = run(observed_deployment(replicas=2), Server(lost, observed_cluster("b"), *own), *own)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert found.status == "Unknown"
    assert found.message.endswith(f"restore the gateway; not ready: {starting.name} on b")


def test_of_many_lost_clusters_ten_are_named_and_the_others_counted() -> None:
    names = [f"c{index:02}" for index in range(12)]
    own = [replica(name) for name in names]
    lost = [observed_cluster(name, status={"gateway": None}) for name in names]
    result, _ = run(observed_deployment(replicas=12), Server(*lost, *own), *own)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert "c09 has lost its address" in found.message
    assert "c10" not in found.message
    assert "2 more clusters" in found.message
