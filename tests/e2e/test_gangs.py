"""Engines of a leader and workers: LeaderWorkerSet makes their pods, the scheduler binds them."""

from typing import Any

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind, condition
from modelplane_dev.plane.pods import NOT_FOUND
from modelplane_dev.plane.waiting import eventually

POD = Kind("v1", "Pod")
GANG = Kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")


def _gang(image: str, copies: int = 1) -> dict[str, Any]:
    """Return gangs of two whole nodes each."""
    found = engine(8, workers=1, copies=copies)
    for member in found["members"]:
        member["template"]["spec"]["containers"][0]["image"] = f"registry.example.org/engine:{image}"
    return found


def _crash(fleet: Fleet, cluster: str) -> None:
    """Let the engine of each pod crash again and again, as a kubelet reports it."""
    for pod in fleet.pods(cluster):
        waiting = {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}
        crashed = [
            each | {"ready": False, "state": {"waiting": waiting}} for each in pod["status"]["containerStatuses"]
        ]
        lost = {"Ready", "ContainersReady"}
        said = [each | ({"status": "False"} if each["type"] in lost else {}) for each in pod["status"]["conditions"]]
        status, metadata = {"conditions": said, "containerStatuses": crashed}, pod["metadata"]
        api = fleet.clusters[cluster].cluster.api
        api.patch(POD, metadata["name"], {"status": status}, metadata["namespace"], "status")


def _state(fleet: Fleet, cluster: str) -> str:
    """Return what a failure shows: the replica's conditions, the gangs and their pods."""
    sets = fleet.clusters[cluster].cluster.api.list(GANG, tenant_namespace(fleet.tag))
    pods = [
        (pod["metadata"]["name"], pod["metadata"].get("deletionTimestamp"), pod["status"])
        for pod in fleet.pods(cluster)
    ]
    return f"{fleet.replica('big')['status']} {[each['status'] for each in sets]} {pods}"


@pytest.mark.proves("P29")
def test_the_only_gang_on_a_full_fleet_that_crashes_after_it_served_is_repaired_by_an_edit(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("west", nodes=2)
    fleet.deploy("big", engines=[_gang("v1")])
    fleet.wait_ready("big")
    _crash(fleet, cluster)

    def crashed() -> None:
        assert fleet.replica("big")["status"].get("crashed") is True, fleet.replica("big")["status"]

    eventually(crashed, within=SOON)
    fleet.deploy("big", engines=[_gang("v2")])

    def repaired() -> None:
        serving = [pod for pod in fleet.pods(cluster) if condition(pod, "Ready").get("status") == "True"]
        images = [pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in serving]
        assert images == ["v2", "v2"], _state(fleet, cluster)
        assert "crashed" not in fleet.replica("big")["status"]

    eventually(repaired, within=SOON)
    fleet.wait_ready("big")


def _images(fleet: Fleet, cluster: str) -> list[str]:
    """Return the images' tags of the pods that are ready, sorted."""
    serving = [pod for pod in fleet.pods(cluster) if condition(pod, "Ready").get("status") == "True"]
    return sorted(pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in serving)


@pytest.mark.takes("south")
@pytest.mark.proves("P30")
def test_the_gang_that_a_bad_edit_broke_is_repaired_by_the_next_one_while_the_other_serves(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("south", nodes=4)
    fleet.deploy("big", engines=[_gang("v1", copies=2)])
    fleet.wait_ready("big")
    fleet.deploy("big", engines=[_gang(NOT_FOUND, copies=2)])

    def broken() -> None:
        tags = [pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in fleet.pods(cluster)]
        assert tags.count(NOT_FOUND) == 2, _state(fleet, cluster)

    eventually(broken, within=SOON)
    assert _images(fleet, cluster) == ["v1", "v1"]
    fleet.deploy("big", engines=[_gang("v2", copies=2)])

    fewest = 4

    def repaired() -> None:
        nonlocal fewest
        found = _images(fleet, cluster)
        fewest = min(fewest, len(found))
        assert found == ["v2"] * 4, _state(fleet, cluster)

    eventually(repaired, within=SOON, every=0.5)
    assert fewest == 2
    fleet.wait_ready("big")


# Kimi's gangs are tested each time (test_catalogue).
@pytest.mark.proves("P19")
@pytest.mark.soak
def test_the_pods_of_a_gang_sit_on_distinct_nodes_each_with_its_claim(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=4)
    fleet.deploy("big", engines=[engine(8, workers=1, copies=2)])
    fleet.wait_ready("big")
    pods = fleet.pods(cluster)
    assert len(pods) == 4
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
    assert [len(claim["status"]["allocation"]["devices"]["results"]) for claim in fleet.claims(cluster)] == [8] * 4
