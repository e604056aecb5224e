"""Clusters on GKE on the real engine: every pass comes to what the preview says, and the first is as it was read."""

from typing import Any

import pytest

from golden import Golden
from modelplane.preview import ControlPlane
from modelplane.reading.kinds import Key
from modelplane_dev.folders import ROOT
from modelplane_dev.processes.functions import Functions
from render.examples import SERVING, documents, pipeline_of, settle_both
from render.outcome import of_real
from render.reading import GOLDEN
from unit.compose_cluster import made

Manifest = dict[str, Any]
KINDS = ("InferenceClass", "InferenceCluster", "ManagedCluster", "ServingStack")
TOUR = [*documents(ROOT / "examples" / "tour")]
#: What the tour begins with: the account, the classes, one cluster and the model.
STARTER = [
    made.ACCOUNT,
    *(
        each
        for each in TOUR
        if each["metadata"]["name"] not in ("a100-us", "a100-eu") and each["kind"] != "ModelService"
    ),
]
GATEWAY = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "InferenceGateway",
    "metadata": {"name": "default"},
    "spec": {},
}


def cluster(plane: ControlPlane) -> Manifest:
    found = plane.get("InferenceCluster", None, "starter")
    assert found is not None
    return found


def test_a_cluster_that_is_made_renders_as_it_was_read(functions: Functions, golden: Golden) -> None:
    scaled = made.asked_pool("a100", maxNodeCount=4, zones=["us-central1-c"])
    plane = ControlPlane((made.ACCOUNT, made.managed(made.asked_pool(), scaled)))
    key = Key("ManagedCluster.modelplane.ai", "modelplane-system", "eu-1")
    kinds = tuple(sorted(plane.view().extra_kinds))
    done = of_real(plane.view(), key, pipeline_of("ManagedCluster", functions), kinds)
    assert done.error is None
    bodies = [{**body, "metadata": {"name": body["metadata"]["name"]}} for _, body in sorted(done.composed.items())]
    golden.compare_documents(GOLDEN / "made" / "managed-cluster.yaml", bodies)


def test_a_cluster_is_made_edited_and_serves_pass_by_pass_as_the_preview_says(functions: Functions) -> None:
    plane = ControlPlane((*STARTER, GATEWAY))
    assert settle_both(plane, (*KINDS, *SERVING), functions) > 0
    conditions = {each["type"]: each["status"] for each in cluster(plane)["status"]["conditions"]}
    assert (conditions["Ready"], len(plane.list("ModelReplica"))) == ("True", 1)

    found = next(each for each in plane.list("InferenceClass") if each["metadata"]["name"] == "tour-l4")
    bigger = {**found["spec"]["provisioning"]["gke"], "machineType": "g2-standard-16"}
    plane.apply({**found, "spec": {**found["spec"], "provisioning": {"provider": "GKE", "gke": bigger}}})
    settle_both(plane, KINDS, functions)
    assert machine(plane) == "g2-standard-8", "a replica is on it"

    (pool,) = cluster(plane)["spec"]["nodePools"]
    spec = {**cluster(plane)["spec"], "nodePools": [{**pool, "allowRolling": True}]}
    plane.apply({**cluster(plane), "spec": spec})
    settle_both(plane, KINDS, functions)
    assert machine(plane) == "g2-standard-16"


def machine(plane: ControlPlane) -> str:
    (pool,) = (
        each
        for each in plane.list("NodePool.container.gcp.m.upbound.io")
        if "guestAccelerator" in each["spec"]["forProvider"]["nodeConfig"]
    )
    return str(pool["spec"]["forProvider"]["nodeConfig"]["machineType"])


@pytest.mark.parametrize("replicas", [1, 3])
def test_the_tour_ends_with_a_replica_in_each_region(replicas: int) -> None:
    plane = ControlPlane((made.ACCOUNT, GATEWAY, *TOUR))
    model = next(each for each in TOUR if each["kind"] == "ModelDeployment")
    plane.apply({**model, "spec": {**model["spec"], "replicas": replicas}})
    assert plane.settle()
    assert plane.errors == {}
    assert len({each["spec"]["clusterName"] for each in plane.list("ModelReplica")}) == replicas
