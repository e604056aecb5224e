"""Devices of other vendors on tainted nodes: what the preview composes for them, the real kube-scheduler binds."""

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.fleet import SOON, Fleet
from modelplane.model.names import LABEL_POOL, tenant_namespace
from modelplane.preview import ControlPlane as Preview
from modelplane_dev.plane.api import Kind, condition
from modelplane_dev.plane.examples import manifests
from modelplane_dev.plane.inference import CLAIM, InferenceSite
from modelplane_dev.plane.waiting import eventually

Manifest = dict[str, Any]
MAKES_PODS = ("Namespace", "ResourceClaimTemplate", "Deployment")
#: The pool and the driver of the example's deployments.
EXPECTED = {("arc", "gpu.intel.com", 1), ("mi300x", "gpu.amd.com", 2)}


def composed(objects: list[Manifest]) -> list[Manifest]:
    """Return what makes pods of the example, the namespace first."""
    preview = Preview(objects)
    assert preview.settle()
    found = [each["spec"]["forProvider"]["manifest"] for each in preview.list("Object")]
    mine = [each for each in found if each["kind"] in MAKES_PODS and each["metadata"]["name"] != "kube-system"]
    return sorted(mine, key=lambda each: each["kind"] != "Namespace")


def bound(site: InferenceSite, team: str) -> Iterator[tuple[str, str, int]]:
    """Yield of each pod its pool, and the driver and the number of the devices that it has; it has to be bound."""
    pods = site.pods(team)
    claims = {each["metadata"]["name"]: each for each in site.cluster.api.list(CLAIM, team)}
    for pod in pods:
        pool = pod["spec"]["nodeSelector"][LABEL_POOL]
        assert str(pod["spec"].get("nodeName")).startswith(f"{pool}-"), pod.get("status")
        (claim,) = pod["status"]["resourceClaimStatuses"]
        devices = claims[claim["resourceClaimName"]]["status"]["allocation"]["devices"]["results"]
        yield pool, devices[0]["driver"], len(devices)


@pytest.mark.proves("P51")
def test_engines_on_devices_of_amd_and_intel_are_bound_to_tainted_nodes(fleet: Fleet) -> None:
    site, objects = fleet.plane.sites["west"], list(manifests("accelerators"))
    cluster = next(each for each in objects if each["kind"] == "InferenceCluster")
    site.create_nodes(cluster, [each for each in objects if each["kind"] == "InferenceClass"])
    for each in objects:
        each["metadata"] |= {"namespace": fleet.tag} if each["kind"] == "ModelDeployment" else {}
    made, team = composed(objects), tenant_namespace(fleet.tag)
    try:
        for manifest in made:
            site.cluster.api.apply(manifest)
        eventually(lambda: _equal(set(bound(site, team)), EXPECTED), within=SOON)
        _strip(site, team, made)
    finally:
        site.cluster.api.delete(Kind("v1", "Namespace"), team)


def _equal(found: set[tuple[str, str, int]], expected: set[tuple[str, str, int]]) -> None:
    assert found == expected


def _strip(site: InferenceSite, team: str, made: list[Manifest]) -> None:
    """Show that the tolerations of the pool are what lets the pods in: without them they have no node."""
    deployments = [each for each in made if each["kind"] == "Deployment"]
    for manifest in deployments:
        manifest["spec"]["template"]["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
        site.cluster.api.apply(manifest)

    def unschedulable() -> None:
        waiting = [pod for pod in site.pods(team) if not pod["spec"].get("nodeName")]
        said = [condition(pod, "PodScheduled").get("message", "") for pod in waiting]
        assert len(said) == len(deployments)
        assert all("untolerated taint" in message for message in said), said

    eventually(unschedulable, within=SOON)
