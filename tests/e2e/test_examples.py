"""The documented deployments on clusters of the example fleet that run."""

import pytest

from e2e.fleet import SOON
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import condition
from modelplane_dev.plane.control_plane import DEPLOYMENT, INFERENCE_CLUSTER, ControlPlane
from modelplane_dev.plane.examples import CLUSTERS, TEAM, apply_deployment, apply_fleet, apply_team
from modelplane_dev.plane.waiting import eventually

#: One engine of one pod, a gang, and devices of two kinds.
PLACED = ("qwen3-8b", "qwen3-coder-480b", "llama-3.3-70b-rdma")
UNPLACED = "llama-4-maverick-unplaced"


# They select clusters of every scenario.
@pytest.mark.alone
def test_the_example_deployments_are_served_and_what_no_cluster_has_is_refused_with_words(plane: ControlPlane) -> None:
    apply_fleet(plane)
    apply_team(plane)
    try:
        _serve_and_refuse(plane)
    finally:
        for name in (*PLACED, UNPLACED):
            plane.hub.api.delete(DEPLOYMENT, name, TEAM)
        for name in CLUSTERS:
            plane.hub.api.delete(INFERENCE_CLUSTER, name)


def _serve_and_refuse(plane: ControlPlane) -> None:
    """Apply the deployments, and wait for what becomes of them."""
    for name in (*PLACED, UNPLACED):
        apply_deployment(plane, name)

    def settled() -> None:
        for name in PLACED:
            found = plane.hub.api.get(DEPLOYMENT, name, TEAM) or {}
            assert condition(found, "Ready").get("status") == "True", found.get("status")
        refused = condition(plane.hub.api.get(DEPLOYMENT, UNPLACED, TEAM) or {}, "ReplicasScheduled")
        assert refused.get("reason") == "InsufficientCapacity", refused

    def running() -> None:
        pods = [pod for site in plane.sites.values() for pod in site.pods(tenant_namespace(TEAM))]
        assert {pod["status"]["phase"] for pod in pods} == {"Running"}

    eventually(settled, within=SOON)
    eventually(running, within=SOON)  # where two took the last place, the pods of one go after its replica
