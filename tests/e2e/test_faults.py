"""What breaks around a serving replica does not take it away, and heals."""

import time

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.plane.api import condition
from modelplane_dev.plane.control_plane import DEPLOYMENT, OBJECT
from modelplane_dev.plane.waiting import eventually

#: Seconds that an API server does not answer.
AWAY = 120.0


def _serving(fleet: Fleet, site: str = "east") -> str:
    """Return the cluster, on a site, on which a deployment of one replica serves."""
    cluster = fleet.add_cluster(site, nodes=2)
    fleet.deploy("llama", engines=[engine(8)])
    fleet.wait_ready("llama")
    return cluster


# What is decided of it is tested in unit/scheduling/steps/test_worked_endings.py.
@pytest.mark.soak
def test_a_malformed_selector_on_a_serving_deployment_changes_nothing(fleet: Fleet) -> None:
    cluster = _serving(fleet)
    pods = fleet.names(cluster)
    manifest = fleet.deployment("llama")
    engines = manifest["spec"]["engines"]
    engines[0]["members"][0]["nodeSelector"]["devices"][0]["selectors"] = [{"cel": "device.driver =="}]
    fleet.plane.hub.api.patch(DEPLOYMENT, "llama", {"spec": {"engines": engines}}, fleet.tag)
    fleet.wait_condition("llama", "ReplicasScheduled", "False", "InvalidNodeSelector")
    time.sleep(15)
    assert fleet.names(cluster) == pods
    assert fleet.counts("llama") == (1, 1)


@pytest.mark.alone
def test_a_function_that_is_killed_and_restarted_costs_nothing(fleet: Fleet) -> None:
    cluster = _serving(fleet)
    pods = fleet.names(cluster)
    function = fleet.plane.processes["modelplane-schedule"]
    function.kill()
    try:
        fleet.plane.hub.kubectl("scale", "modeldeployment/llama", "-n", fleet.tag, "--replicas=2")
        time.sleep(5)
        assert fleet.names(cluster) == pods
    finally:
        function.start()
    fleet.wait_counts("llama", total=2, ready=2)
    assert fleet.names(cluster) >= pods


@pytest.mark.alone
def test_crossplane_restarted_in_the_middle_goes_on(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=2)
    fleet.deploy("llama", engines=[engine(8)], replicas=2)
    fleet.plane.processes["crossplane"].restart()
    fleet.wait_counts("llama", total=2, ready=2)
    assert len(fleet.names(cluster)) == 2


@pytest.mark.long
@pytest.mark.takes("north")
def test_nothing_is_deleted_or_placed_twice_while_a_clusters_api_server_is_away(fleet: Fleet) -> None:
    cluster = _serving(fleet, "north")
    pods, replicas = fleet.names(cluster), [replica["metadata"]["uid"] for replica in fleet.replicas("llama")]
    server = fleet.clusters[cluster].processes["api_server"]
    server.stop()
    try:
        eventually(lambda: fleet.assert_condition(fleet.cluster(cluster), "ClusterReady", "False"), within=SOON)
        time.sleep(AWAY)
        assert [replica["metadata"]["uid"] for replica in fleet.replicas("llama")] == replicas
        assert all(
            "deletionTimestamp" not in found["metadata"] for found in fleet.plane.hub.api.list(OBJECT, fleet.tag)
        )
        unknown = fleet.wait_condition("llama", "ReplicasReady", "Unknown", "ClusterUnreachable")
        reported = condition(unknown, "ReplicasReady")
        assert reported["message"].count(f"cluster {cluster} does not answer, 1 replica there") == 1, reported
    finally:
        server.start()
    server.wait_for(fleet.clusters[cluster].cluster.api.ready)
    assert fleet.names(cluster) == pods
    eventually(lambda: fleet.assert_condition(fleet.cluster(cluster), "ClusterReady", "True"), within=SOON)
    fleet.wait_counts("llama", total=1, ready=1)
