"""A control cluster that is put back to a backup takes up what serves, and restarts nothing."""

from pathlib import Path

import pytest

from e2e.fleet import SOON, Fleet
from modelplane.compose_replica.cluster_hold import HOLDS
from modelplane_dev.plane.backup import restore, save
from modelplane_dev.plane.control_plane import DEPLOYMENT, OBJECT
from modelplane_dev.plane.waiting import eventually

#: Which of its composed resources an object is.
RESOURCE = "crossplane.io/composition-resource-name"


def uids(fleet: Fleet, cluster: str) -> dict[str, str]:
    """Return the uid of each pod of the fleet on a cluster, by name: a pod that was restarted has another."""
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in fleet.pods(cluster)}


def composed(fleet: Fleet, name: str) -> dict[str, str]:
    """Return the uid of each Object of a deployment's one replica, by name.

    Without the one that comes at any time, after a conflict of the provider.
    """
    owner = fleet.replica(name)["metadata"]["uid"]
    found = [each["metadata"] for each in fleet.plane.hub.api.list(OBJECT, fleet.tag)]
    mine = [each for each in found if each.get("ownerReferences", [{}])[0].get("uid") == owner]
    return {each["name"]: each["uid"] for each in mine if each["annotations"][RESOURCE] not in HOLDS}


@pytest.mark.alone
def test_a_restored_control_cluster_takes_up_what_serves_and_converges_to_what_it_is_asked(
    fleet: Fleet, tmp_path: Path
) -> None:
    api, east = fleet.plane.hub.api, fleet.add_cluster("east", nodes=6)
    for name in ("kept", "scaled", "deleted"):
        fleet.deploy(name)
    for name in ("kept", "scaled", "deleted"):
        fleet.wait_ready(name)
    fleet.assert_condition(fleet.deployment("kept"), "VersionsMatch")
    objects = composed(fleet, "kept")
    save(fleet.plane, tmp_path / "snapshot.db")

    fleet.deploy("scaled", replicas=2)
    api.delete(DEPLOYMENT, "deleted", fleet.tag)
    fleet.deploy("added")
    fleet.wait_counts("scaled", total=2, ready=2)
    fleet.wait_ready("added")

    def served_by(pods: int) -> None:
        assert len(uids(fleet, east)) == pods

    eventually(lambda: served_by(4), within=SOON)
    serving = uids(fleet, east)
    restore(fleet.plane, tmp_path / "snapshot.db")

    # What was deleted since the backup serves again; what the backup does not know serves on, and belongs to nothing.
    eventually(lambda: served_by(5), within=SOON)
    for name in ("kept", "scaled", "deleted"):
        fleet.wait_ready(name)
    fleet.wait_counts("scaled", total=1, ready=1)
    assert fleet.deployment("added") == {}
    assert serving.items() <= uids(fleet, east).items()
    assert composed(fleet, "kept") == objects

    # The manifests of today, applied again: what runs is adopted by its name.
    fleet.deploy("scaled", replicas=2)
    fleet.deploy("added")
    fleet.wait_counts("scaled", total=2, ready=2)
    fleet.wait_ready("added")
    assert serving.items() <= uids(fleet, east).items()
    assert len(uids(fleet, east)) == 5
