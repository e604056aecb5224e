"""Weights that are staged on a cluster before anything starts there."""

import pytest

from e2e.fleet import SOON, USAGE, Fleet
from e2e.scenes import cache, engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.control_plane import CACHE
from modelplane_dev.plane.fakes import provision_volumes
from modelplane_dev.plane.pods import COMMIT
from modelplane_dev.plane.waiting import eventually


@pytest.mark.proves("P89")
def test_a_gang_that_waits_for_its_cache_starts_when_it_is_staged(fleet: Fleet) -> None:
    api, cluster = fleet.plane.hub.api, fleet.add_cluster("east", nodes=2)
    api.apply(cache("weights", fleet.tag, {"scenario": fleet.tag}))
    fleet.deploy("big", engines=[engine(8, workers=1)], modelCacheRef={"name": "weights"})

    def waits() -> None:
        fleet.assert_condition(fleet.replica("big"), "ModelAccepted", "False", "WaitingForCache")
        rows = (api.get(CACHE, "weights", fleet.tag) or {})["status"]["clusters"]
        assert [(row["name"], row["phase"]) for row in rows] == [(cluster, "Pending")]

    eventually(waits, within=SOON)
    assert not fleet.pods(cluster)

    def provisioned() -> None:
        assert provision_volumes(fleet.clusters[cluster].cluster, tenant_namespace(fleet.tag)) == 1

    eventually(provisioned, within=SOON)
    fleet.wait_ready("big")
    status = (api.get(CACHE, "weights", fleet.tag) or {})["status"]
    assert (status["commit"], status["clusters"][0]["volume"]["commit"]) == (COMMIT, COMMIT)
    pods = fleet.pods(cluster)
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 2
    for pod in pods:
        (volume,) = [found for found in pod["spec"]["volumes"] if "persistentVolumeClaim" in found]
        assert volume["persistentVolumeClaim"]["readOnly"] is True
    reason = f"in use by ModelReplica {fleet.replica('big')['metadata']['name']}"
    fleet.wait_protected(USAGE, reason)
    with pytest.raises(ApiError, match=reason):
        api.delete(CACHE, "weights", fleet.tag)
