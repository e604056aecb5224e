"""What an InferenceCluster asks of its ManagedCluster, and when that is ready."""

from typing import Any

import pytest

from modelplane.model.names import LABEL_NETWORK
from modelplane.step import Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made

Manifest = dict[str, Any]
EKS = {"provider": "EKS", "eks": {"instanceType": "g6.xlarge"}}
EXISTING = {"network": "shared", "subnetwork": "gpus", "podRange": "pods", "serviceRange": "services"}


def run(body: Manifest, observed: Manifest | None = None, device_class: Manifest | None = None) -> Result:
    return given.run(body, observed, class_l4=[device_class or made.device_class()])


def asked(body: Manifest) -> Manifest:
    """Return the ManagedCluster that is composed for an InferenceCluster."""
    found: Manifest = given.bodies(run(body))["managed-cluster"]
    return found


@pytest.mark.parametrize("status", ["True", "False"])
def test_the_managed_cluster_is_ready_once_its_cloud_is(status: str) -> None:
    conditions = [{"type": "CloudReady", "status": status, "reason": "Made"}]
    seen = {**asked(made.cluster()), "status": {"conditions": conditions}}
    assert run(made.cluster(), {"managed-cluster": seen}).desired["managed-cluster"].ready is (status == "True")


@pytest.mark.parametrize(("provisioning", "has"), [(EKS, "it is for EKS"), (None, "it has none")])
def test_a_class_that_cannot_be_made_there_says_what_it_is_for(provisioning: Manifest | None, has: str) -> None:
    found = given.device_class()
    found["spec"] |= {"provisioning": provisioning} if provisioning else {}
    ready = given.condition(run(made.cluster(), device_class=found), "ClusterReady")
    assert (ready.reason, has in ready.message) == ("InvalidNodePool", True)


def test_only_a_network_that_is_made_is_marked_for_others_to_see() -> None:
    own = asked(made.cluster(gke={"network": {"cidr": "10.8.0.0/16"}}))
    brought = asked(made.cluster(gke={"network": {"existing": EXISTING}}))
    assert own["metadata"]["labels"] == {LABEL_NETWORK: "10.8.0.0"}
    assert "labels" not in brought["metadata"]


def test_a_cluster_without_pools_is_made_without_any() -> None:
    body = made.cluster()
    del body["spec"]["nodePools"]
    assert asked(body)["spec"]["pools"] == []


def pools_of(seen: Manifest, **status: Any) -> list[tuple[str, int]]:
    """Return the pools that are published while it is not known what replicas hold."""
    body = made.cluster() | {"status": status}
    result = given.run(body, {"managed-cluster": seen}, class_l4=[made.device_class()], replicas=None)
    return [(pool["name"], pool["nodes"]) for pool in given.status(result)["gpuPools"]]


def test_a_pool_has_the_nodes_that_are_held_until_it_is_known_that_they_are_not() -> None:
    seen = asked(made.cluster())
    assert pools_of(seen) == [("l4", 2)]
    seen["spec"]["pools"][0] |= {"heldNodes": 3}
    assert pools_of(seen) == [("l4", 3)]


def test_a_pool_that_leaves_keeps_its_nodes_before_its_cloud_says_anything_of_it() -> None:
    seen = asked(made.cluster())
    seen["spec"]["pools"].append({**made.asked_pool("old"), "leaving": True, "heldNodes": 1})
    assert pools_of(seen, gpuPools=[{"name": "old", "nodes": 4}]) == [("l4", 2), ("old", 4)]


def test_a_managed_cluster_without_pools_loses_nothing_while_it_is_held() -> None:
    seen = asked(made.cluster())
    del seen["spec"]["pools"]
    assert pools_of(seen) == [("l4", 2)]


def test_a_cloud_that_does_not_say_what_it_waits_for_is_said_to_make_the_cluster() -> None:
    conditions = [{"type": "CloudReady", "status": "False", "reason": "Provisioning", "message": ""}]
    seen = {**asked(made.cluster()), "status": {"conditions": conditions}}
    ready = given.condition(run(made.cluster(), {"managed-cluster": seen}), "ClusterReady")
    assert "it is being made" in ready.message.lower()
