"""What engines name of their team's Secrets follows them to their clusters, and leaves with the last of them."""

import base64

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.control_plane import DEPLOYMENT, OBJECT
from modelplane_dev.plane.waiting import eventually

SECRET = Kind("v1", "Secret")


def _secret(fleet: Fleet, value: str) -> Manifest:
    data = {"key": base64.b64encode(value.encode()).decode()}
    metadata = {"name": "token", "namespace": fleet.tag}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data}


def _naming() -> Manifest:
    made = engine(1)
    source = {"secretKeyRef": {"name": "token", "key": "key"}}
    made["members"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "valueFrom": source}]
    return made


def _copied(fleet: Fleet, cluster: str) -> str | None:
    found = fleet.clusters[cluster].cluster.api.get(SECRET, "token", tenant_namespace(fleet.tag))
    return base64.b64decode(found["data"]["key"]).decode() if found else None


def _objects(fleet: Fleet) -> list[Manifest]:
    found = fleet.plane.hub.api.list(OBJECT, fleet.tag)
    return [each for each in found if each["spec"]["forProvider"]["manifest"]["kind"] == "Secret"]


@pytest.mark.long
def test_a_secret_is_copied_once_followed_and_removed_with_its_last_user(fleet: Fleet) -> None:
    api = fleet.plane.hub.api
    cluster = fleet.add_cluster("east", nodes=1)
    fleet.deploy("waits", engines=[_naming()])

    def reported() -> None:
        found = fleet.assert_condition(fleet.replica("waits"), "ModelAccepted", "False", "Deploying")
        assert "token does not exist; engine main reads it in env" in str(found["status"]["conditions"])

    eventually(reported, within=SOON)
    api.apply(_secret(fleet, "one"))
    fleet.wait_ready("waits")
    fleet.deploy("shares", replicas=2, engines=[_naming()])
    fleet.wait_ready("shares")
    eventually(lambda: _expect(_copied(fleet, cluster), "one"), within=SOON)

    def shared_by_three() -> None:
        made = _only(_objects(fleet))
        assert len(made["metadata"]["ownerReferences"]) == 3

    eventually(shared_by_three, within=SOON)
    api.apply(_secret(fleet, "two"))
    eventually(lambda: _expect(_copied(fleet, cluster), "two"), within=SOON)

    before = _only(_objects(fleet))
    api.delete(DEPLOYMENT, "waits", fleet.tag)

    def taken_over() -> None:
        made = _only(_objects(fleet))
        assert made["metadata"]["uid"] == before["metadata"]["uid"]
        owners = made["metadata"]["ownerReferences"]
        assert len(owners) == 2
        assert sum(bool(owner.get("controller")) for owner in owners) == 1

    eventually(taken_over, within=SOON)
    assert _copied(fleet, cluster) == "two"
    fleet.deploy("shares", replicas=0)
    eventually(lambda: _expect(_copied(fleet, cluster), None), within=SOON)
    assert api.get(SECRET, "token", fleet.tag)
    fleet.assert_status_is_kept()


def _only(found: list[Manifest]) -> Manifest:
    assert len(found) == 1, found
    return found[0]


def _expect(found: str | None, wanted: str | None) -> None:
    assert found == wanted
