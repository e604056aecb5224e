"""`kubectl scale` and zero replicas, on a live deployment."""

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.plane.waiting import eventually


@pytest.mark.proves("P86")
@pytest.mark.long
def test_a_deployment_is_scaled_up_down_and_to_zero_by_kubectl(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=3)
    fleet.deploy("llama", engines=[engine(8)])
    fleet.wait_ready("llama")
    first = fleet.names(cluster)
    for replicas in (3, 1):
        fleet.plane.hub.kubectl("scale", "modeldeployment/llama", "-n", fleet.tag, f"--replicas={replicas}")
        fleet.wait_counts("llama", total=replicas, ready=replicas)

    def only_one_pod() -> None:
        assert len(fleet.pods(cluster)) == 1

    eventually(only_one_pod, within=SOON)
    assert len(first) == 1
    fleet.plane.hub.kubectl("scale", "modeldeployment/llama", "-n", fleet.tag, "--replicas=0")
    fleet.wait_condition("llama", "ReplicasScheduled", "True", "ScaledToZero")

    def nothing() -> None:
        assert not fleet.names(cluster)
        assert not fleet.claims(cluster)

    eventually(nothing, within=SOON)
