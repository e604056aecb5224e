"""Replicas that have to leave a cluster: the replacement serves first."""

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.compose_replica.cluster_hold import REFERRED
from modelplane_dev.plane.control_plane import INFERENCE_CLUSTER
from modelplane_dev.plane.waiting import eventually


def _serving_on_one_of_two(fleet: Fleet) -> tuple[str, str]:
    """Return the cluster on which a deployment of one replica serves, and a cluster that is free."""
    both = [fleet.add_cluster(site) for site in ("east", "west")]
    fleet.deploy("llama", engines=[engine(8)])
    fleet.wait_ready("llama")
    here = fleet.replica("llama")["spec"]["clusterName"]
    both.remove(here)
    return here, both[0]


def _watch_the_move(fleet: Fleet, old: str, new: str) -> None:
    """Wait until the replica has moved; at no moment is there neither a running pod here nor one there.

    Nor is there a pod on a cluster whose InferenceCluster is gone.
    """

    def moved() -> None:
        known = fleet.cluster(old)
        running = {where: [pod for pod in fleet.pods(where) if _ready(pod)] for where in (old, new)}
        if not (running[old] or running[new]):
            raise RuntimeError("nothing serves in the middle of a move")
        if running[old] and not known:
            raise RuntimeError("the InferenceCluster went before its replica")
        assert running[new], "the replacement does not serve yet"
        assert not running[old], "the old replica is still there"

    eventually(moved, within=SOON, every=0.2)


def _assert_kept(fleet: Fleet, cluster: str) -> list[str]:
    """Assert that an InferenceCluster has the finalizer of an Object; return all that it has."""
    finalizers: list[str] = fleet.cluster(cluster)["metadata"].get("finalizers", [])
    assert any(each.startswith(REFERRED) for each in finalizers), finalizers
    return finalizers


def _forget(fleet: Fleet, cluster: str) -> None:
    """Take the finalizers of Objects from an InferenceCluster, as a conflict would, and wait for that of one more."""
    finalizers = eventually(lambda: _assert_kept(fleet, cluster), within=SOON)
    others = [each for each in finalizers if not each.startswith(REFERRED)]
    fleet.plane.hub.api.patch(INFERENCE_CLUSTER, cluster, {"metadata": {"finalizers": others}})
    eventually(lambda: _assert_kept(fleet, cluster), within=SOON)


def _ready(pod: dict[str, object]) -> bool:
    status = pod["status"]
    assert isinstance(status, dict)
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in status.get("conditions", []))


def test_a_noexecute_taint_moves_the_replica_and_its_replacement_serves_first(fleet: Fleet) -> None:
    here, there = _serving_on_one_of_two(fleet)
    taint = {"key": "maintenance", "effect": "NoExecute"}
    fleet.plane.hub.api.patch(INFERENCE_CLUSTER, here, {"spec": {"taints": [taint]}})
    _watch_the_move(fleet, here, there)
    fleet.wait_counts("llama", total=1, ready=1)


@pytest.mark.long
def test_a_deleted_cluster_stays_until_its_replica_has_moved_and_then_goes(fleet: Fleet) -> None:
    here, there = _serving_on_one_of_two(fleet)
    _forget(fleet, here)
    _forget(fleet, here)
    fleet.plane.hub.api.delete(INFERENCE_CLUSTER, here)
    _watch_the_move(fleet, here, there)
    fleet.wait_counts("llama", total=1, ready=1)

    def gone() -> None:
        assert not fleet.cluster(here)

    eventually(gone, within=SOON)
