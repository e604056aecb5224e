"""What Modelplane places, Kubernetes binds."""

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.plane.waiting import eventually


def test_a_single_node_deployment_binds_with_its_claim_allocated(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=2)
    fleet.deploy("llama", engines=[engine(4)])
    fleet.wait_ready("llama")
    (pod,) = fleet.pods(cluster)
    assert pod["spec"]["nodeName"].startswith(cluster)
    assert pod["status"]["phase"] == "Running"
    (claim,) = fleet.claims(cluster)
    assert len(claim["status"]["allocation"]["devices"]["results"]) == 4
    (endpoint,) = fleet.endpoints("llama")
    assert endpoint["spec"]["ready"] is True


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
