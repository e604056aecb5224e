"""What Modelplane places, Kubernetes binds."""

import pytest

from e2e.fleet import SOON, Fleet
from modelplane_dev.plane.waiting import eventually


# That as many replicas serve as there is room for, and the others are refused, is tested in test_races.py.
@pytest.mark.soak
def test_eight_one_gpu_replicas_fill_a_node_and_the_ninth_is_refused_by_modelplane(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=1, gpus=8)
    fleet.deploy("small", replicas=9)

    def eight_serve() -> None:
        found = fleet.deployment("small")
        assert fleet.counts("small") == (8, 8)
        fleet.assert_condition(found, "ReplicasScheduled", "False", "InsufficientCapacity")

    eventually(eight_serve, within=SOON)
    pods = fleet.pods(cluster)
    assert len(pods) == 8
    assert {pod["spec"].get("nodeName") for pod in pods} == {f"{cluster}-0"}
