"""What install/ is there for: an installation without a part of it says what it lacks, and heals with it."""

import pytest

from e2e.fleet import CLUSTER_USAGE, SOON, Fleet
from modelplane_dev.plane.api import ApiError, Kind
from modelplane_dev.plane.control_plane import INFERENCE_CLASS, INFERENCE_CLUSTER, OBJECT, apply_installation
from modelplane_dev.plane.waiting import eventually

BINDING = Kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")


@pytest.mark.alone
def test_without_the_rights_of_install_a_replica_says_what_is_forbidden_and_with_them_it_serves(fleet: Fleet) -> None:
    hub = fleet.plane.hub
    cluster, provider = fleet.add_cluster("east"), hub.api_of("provider-kubernetes")
    hub.api.delete(BINDING, "modelplane-provider-kubernetes")

    def revoked() -> None:
        try:
            provider.get(INFERENCE_CLUSTER, cluster)
        except ApiError as error:
            assert error.status == 403, error
        else:
            raise AssertionError("the API server still grants what was bound")

    try:
        eventually(revoked, within=SOON)
        fleet.deploy("llama")

        def forbidden() -> None:
            replica = fleet.assert_condition(fleet.replica("llama"), "ModelAccepted", "False")
            shown = str(replica["status"]["conditions"])
            assert "forbidden" in shown
            assert "use on clusterproviderconfigs.modelplane.ai" in shown

        eventually(forbidden, within=SOON)
    finally:
        apply_installation(hub)
    fleet.wait_ready("llama")
    assert hub.api.list(OBJECT, fleet.tag)


def test_a_class_that_a_cluster_uses_cannot_be_deleted(fleet: Fleet) -> None:
    api, cluster = fleet.plane.hub.api, fleet.add_cluster("east", gpus=8)
    reason = f"in use by a node pool of InferenceCluster {cluster}"
    fleet.wait_protected(CLUSTER_USAGE, reason)
    with pytest.raises(ApiError, match=reason):
        api.delete(INFERENCE_CLASS, f"{fleet.tag}-8")
