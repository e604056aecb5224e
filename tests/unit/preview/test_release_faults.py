"""Releases that fail, hang, flap and come late in the preview: what is said of them, and that what serves stays."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.simulation.release_faults import ReleaseFault
from modelplane.preview.worlds import World, faulty_releases, healthy
from unit.preview.fakes import conditions_of

#: A part that is Managed brings them all; the gateway has an address all the time.
EAST = cluster("east", stack={"lws": "Managed"})


def living(world: World, passes: int = 12) -> ControlPlane:
    """Return a control plane after so many rounds; one whose releases flap never comes to rest."""
    control = ControlPlane((hardware(), EAST, deployment()), world=world)
    control.settle(passes)
    return control


def backend(control: ControlPlane) -> tuple[str, ...]:
    found = control.get("InferenceCluster", None, "east")
    assert found is not None
    return conditions_of(found)["BackendReady"]


def releases(control: ControlPlane) -> dict[str, Any]:
    return {each["spec"]["forProvider"]["chart"]["name"]: each for each in control.list("Release")}


def serves(control: ControlPlane) -> bool:
    (replica,) = control.list("ModelReplica")
    return bool(conditions_of(replica)["ModelReady"][0] == "True")


def test_a_release_that_fails_for_good_keeps_new_replicas_away_and_says_what_to_do() -> None:
    control = living(faulty_releases({"lws": ReleaseFault.FAILS}))
    assert backend(control)[:2] == ("False", "PartFailed")
    assert control.list("ModelReplica") == []
    found = control.get("ServingStack", "modelplane-system", "east")
    assert found is not None
    (row,) = [each for each in found["status"]["parts"] if each["name"] == "lws"]
    assert row["state"] == "Failed"
    assert "kubectl delete secret sh.helm.release.v1.mp-lws.v1 -n lws-system" in row["message"]


def test_a_release_that_hangs_is_named_with_the_secret_to_delete() -> None:
    control = living(faulty_releases({"gateway-helm": ReleaseFault.HANGS}))
    assert backend(control)[1] == "PartFailed"
    assert "Helm was stopped in pending-install of revision 1 of release mp-gateway-helm" in backend(control)[2]
    assert "ai-gateway-helm" in releases(control)
    assert "Create" not in releases(control)["ai-gateway-helm"]["spec"]["managementPolicies"], (
        "it waits for the gateway"
    )


def test_a_release_that_comes_late_is_waited_for() -> None:
    control = living(faulty_releases({"lws": ReleaseFault.LATE, "gateway-helm": ReleaseFault.LATE}), 30)
    assert backend(control)[0] == "True"
    assert serves(control)


@pytest.mark.parametrize("fault", ReleaseFault)
def test_what_serves_stays_whatever_becomes_of_each_release(fault: ReleaseFault) -> None:
    control = living(healthy)
    assert serves(control)
    before, replica = releases(control), control.list("ModelReplica")[0]["metadata"]["uid"]
    control.world = faulty_releases(dict.fromkeys(before, fault))
    for _ in range(4):
        control.settle(1)
        assert serves(control)
        assert control.list("ModelReplica")[0]["metadata"]["uid"] == replica
        assert releases(control).keys() == before.keys()
    control.world = healthy
    control.settle()
    assert backend(control)[0] == "True"
