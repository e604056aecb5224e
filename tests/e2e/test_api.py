"""The API as Crossplane makes it of our XRDs: explanations, columns, short names, scale."""

import pytest
import yaml

from docs.blocks import File, blocks
from e2e.fleet import SOON, Fleet
from modelplane.model.names import API_VERSION
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Kind, condition
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.metrics import fake_metrics
from modelplane_dev.plane.waiting import eventually

AUTOSCALER = Kind("autoscaling/v2", "HorizontalPodAutoscaler")
#: Short name and columns of each kind, without those that Crossplane adds.
COLUMNS = {
    "md": ["REPLICAS", "UPDATED", "SCHEDULED", "WAITING-FOR"],
    "mr": ["CLUSTER", "PROFILE"],
    "me": ["URL", "SERVING"],
    "ms": ["URL", "ENDPOINTS", "KEYS", "ADDRESS"],
    "mc": ["SOURCE", "READY"],
    "clm": ["MODEL", "REPLICAS", "ACCEPTED"],
    "icl": ["DEVICES", "ACCEPTED"],
    "ic": ["SOURCE", "GATEWAY", "REPLICAS"],
    "ig": ["ADDRESS", "FLEET-URL"],
}
#: Columns that Crossplane adds to every kind.
OF_CROSSPLANE = ["SYNCED", "READY", "COMPOSITION", "COMPOSITIONREVISION", "AGE"]
_COLUMN_NAMES = "jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}"
DESCRIBED = ("modeldeployment.spec.engines.members.nodeSelector.devices.selectors.cel", "inferencecluster.spec.taints")


@pytest.mark.proves("P52")
@pytest.mark.parametrize("short", COLUMNS)
def test_a_kind_is_found_by_its_short_name_and_shows_its_columns(plane: ControlPlane, short: str) -> None:
    table = plane.hub.api.request("GET", f"/apis/{API_VERSION}")["resources"]
    (resource,) = [entry for entry in table if short in entry.get("shortNames", [])]
    definition = plane.hub.kubectl("get", "crd", f"{resource['name']}.modelplane.ai", "-o", _COLUMN_NAMES)
    assert definition.split() == COLUMNS[short] + OF_CROSSPLANE
    assert set(resource["categories"]) >= {"modelplane", "crossplane"}


@pytest.mark.parametrize("field", DESCRIBED)
def test_kubectl_explains_a_field(plane: ControlPlane, field: str) -> None:
    def explained() -> None:  # by a document that the server writes anew after each change of a kind
        printed = plane.hub.kubectl("explain", field, "--api-version", API_VERSION)
        description = printed.partition("DESCRIPTION:")[2].strip()
        assert len(description) > 20
        assert "<empty>" not in description

    eventually(explained, within=SOON)


@pytest.mark.proves("P87", "P140")
def test_a_horizontal_pod_autoscaler_scales_a_deployment_by_the_requests_that_wait(fleet: Fleet) -> None:
    fleet.add_cluster("east", nodes=3)
    fleet.deploy("llama")
    fleet.wait_ready("llama")
    page = blocks(ROOT / "docs" / "deploy-a-model.md")
    (text,) = (each.text for each in page if isinstance(each, File) and each.name == "my-autoscaler.yaml")
    manifest = yaml.safe_load(text)
    manifest["metadata"] = {"name": "llama", "namespace": fleet.tag}
    manifest["spec"]["scaleTargetRef"]["name"] = "llama"
    (metric,) = manifest["spec"]["metrics"]
    wanted = metric["external"]["metric"]
    assert metric["external"]["target"]["averageValue"] == "20"
    wanted["selector"] = {"matchLabels": dict.fromkeys(wanted["selector"]["matchLabels"], "llama")}
    with fake_metrics(fleet.plane.hub, **{wanted["name"]: 45}) as metrics:
        fleet.plane.hub.api.apply(manifest)

        def able() -> None:
            found = fleet.plane.hub.api.get(AUTOSCALER, "llama", fleet.tag) or {}
            for kind in ("AbleToScale", "ScalingActive"):
                assert condition(found, kind).get("status") == "True", found.get("status")

        eventually(able, within=SOON)
        fleet.wait_counts("llama", total=3, ready=3)
    assert metrics.asked == {"modelplane_ai_deployment=llama"}
    fleet.plane.hub.api.delete(AUTOSCALER, "llama", fleet.tag)
