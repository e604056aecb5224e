"""The table of parts against the real charts: names of workloads, values, and what is shown once a part is there.

No Go module has the charts of NVIDIA's DRA driver, Node Feature Discovery and Prometheus: their rows are not tried.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.kube.charts import values_of
from modelplane.stack import CHARTS, PARTS, Chart, Part
from modelplane.stack.overrides import ALLOWED
from modelplane_dev import components
from modelplane_dev.plane.charts import NAMES, unpack

#: Values that a chart reads and that its own values do not have, and where it reads them.
UNLISTED = {
    ("gateway-helm", "config.envoyGateway.extensionApis.enableBackend"): "any field of EnvoyGateway",
    ("gateway-helm", "config.envoyGateway.extensionManager"): "any field of EnvoyGateway",
    ("ai-gateway-helm", "controller.maxRecvMsgSize"): "commented in its values",
    ("ai-gateway-helm", "controller.mutatingWebhook.namespaceSelector"): "commented in its values",
}


#: What Helm makes of each chart.
Made = Mapping[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of the charts."""
    folder = tmp_path_factory.mktemp("charts")
    return {name: unpack(name, CHARTS[name][1].version, folder) for name in NAMES}


@pytest.fixture(scope="module")
def made(unpacked: dict[str, Path]) -> Made:
    """Return what Helm makes of each chart with our values."""
    return {name: rendered(CHARTS[name][1], folder, values_of(CHARTS[name][1])) for name, folder in unpacked.items()}


def rendered(chart: Chart, folder: Path, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what Helm makes of a chart with values."""
    values = folder.parent / f"{chart.name}-values.json"
    values.write_text(json.dumps(given))
    command: list[str | Path] = [components.path("helm"), "template", chart.release, folder, "--include-crds"]
    command += ["--namespace", chart.namespace, "--values", values, "--kube-version", "1.34.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [each for each in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if each]


def paths(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the path of each value."""
    for key, value in values.items():
        path = f"{before}.{key}" if before else key
        if isinstance(value, dict) and value:
            yield from paths(value, path)
        else:
            yield path


def listed(chart: Path, path: str) -> bool:
    """Tell whether the values of a chart, or of a chart in it, have a path."""
    found: Any = yaml.safe_load((chart / "values.yaml").read_text())
    first, _, rest = path.partition(".")
    inner = chart / "charts" / first
    if inner.exists() and rest and first in (found or {}) and listed(inner, rest):
        return True
    for step in path.split("."):
        if not isinstance(found, dict) or step not in found:
            return False
        found = found[step]
    return True


@pytest.mark.parametrize("name", NAMES)
def test_every_workload_of_the_table_is_in_its_chart_under_its_name_and_no_other_deployment_is(
    name: str, made: Made
) -> None:
    _, chart = CHARTS[name]
    pods = {
        (each["kind"], each["metadata"]["name"], each["metadata"]["namespace"])
        for each in made[name]
        if each["kind"] in ("Deployment", "DaemonSet", "StatefulSet")
    }
    assert pods == {(each.kind, each.name, chart.namespace) for each in chart.workloads}


@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_one_that_its_chart_reads(name: str, unpacked: dict[str, Path]) -> None:
    known = {path for chart, path in UNLISTED if chart == name}
    unknown = [
        path
        for path in paths(CHARTS[name][1].values)
        if not any(path == each or path.startswith(f"{each}.") for each in known) and not listed(unpacked[name], path)
    ]
    assert unknown == []


@pytest.mark.parametrize("part", [Part.CERT_MANAGER, Part.GATEWAY, Part.AI_GATEWAY, Part.LWS])
def test_every_value_that_a_cluster_may_set_is_one_of_the_chart(part: Part, unpacked: dict[str, Path]) -> None:
    folder = unpacked[PARTS[part].charts[-1].name]
    assert [path for path in ALLOWED[part] if not listed(folder, path)] == []


#: Hosts of the registries that the charts name their images with.
REGISTRIES = re.compile(
    r"(?<![\w./-])(docker\.io|ghcr\.io|gcr\.io|quay\.io|registry\.k8s\.io|nvcr\.io)/[\w./-]+[:@][\w.-]+"
)


def images(found: Any) -> Iterator[str]:
    """Yield every image of a registry that is named in any text, such as an argument or a file of settings."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from images(value) if key != "description" else ()
    elif isinstance(found, list):
        for value in found:
            yield from images(value)
    elif isinstance(found, str):
        yield from (match.group() for match in REGISTRIES.finditer(found))


#: The images that each chart runs, or has run.
EVERY_IMAGE = {
    "cert-manager": {
        "jetstack/cert-manager-acmesolver:v1.21.2",
        "jetstack/cert-manager-cainjector:v1.21.2",
        "jetstack/cert-manager-controller:v1.21.2",
        "jetstack/cert-manager-webhook:v1.21.2",
    },
    "gateway-helm": {
        "envoyproxy/envoy:distroless-v1.38.3",
        "envoyproxy/gateway:v1.8.3",
        "envoyproxy/ratelimit:1e50889b",
    },
    "ai-gateway-crds-helm": set(),
    "ai-gateway-helm": {"envoyproxy/ai-gateway-controller:v1.0.0", "envoyproxy/ai-gateway-extproc:v1.0.0"},
    "lws": {"lws/lws:v0.8.0"},
}
MIRROR = "mirror.example.org:5000/images"


@pytest.mark.parametrize("name", NAMES)
def test_every_image_comes_from_the_place_that_an_installation_names(
    name: str, unpacked: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELPLANE_CHART_IMAGES", f"{MIRROR}/")
    found = rendered(CHARTS[name][1], unpacked[name], values_of(CHARTS[name][1]))
    assert list(images(found)) == []
    written = json.dumps(found)
    assert set(re.findall(rf"{MIRROR}/([\w./-]+[:@][\w.-]+)", written)) == EVERY_IMAGE[name]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_place_for_images_they_come_from_where_they_are_published(name: str, made: Made) -> None:
    published = {image.partition("/")[2] for image in images(made[name])}
    # Envoy's own image is in Envoy Gateway's program.
    assert published == EVERY_IMAGE[name] - {"envoyproxy/envoy:distroless-v1.38.3"}


@pytest.mark.parametrize("part", [Part.CERT_MANAGER, Part.GATEWAY, Part.AI_GATEWAY, Part.LWS])
def test_a_part_brings_the_api_that_shows_it(part: Part, made: Made) -> None:
    definitions = [
        each for chart in PARTS[part].charts for each in made[chart.name] if each["kind"] == "CustomResourceDefinition"
    ]
    served = {
        f"{version['name']}.{each['spec']['group']}"
        for each in definitions
        for version in each["spec"]["versions"]
        if version["served"]
    }
    assert PARTS[part].shown_by[2] in served


def test_envoy_gateway_forbids_no_other_bundle_of_gateway_api_and_asks_ai_gateway(made: Made) -> None:
    envoy, ai_gateway = made["gateway-helm"], made["ai-gateway-helm"]
    assert [each["kind"] for each in envoy if each["kind"].startswith("ValidatingAdmissionPolicy")] == []
    (configuration,) = [
        yaml.safe_load(each["data"]["envoy-gateway.yaml"])
        for each in envoy
        if "envoy-gateway.yaml" in each.get("data", {})
    ]
    service = configuration["extensionManager"]["service"]["fqdn"]["hostname"]
    (found,) = [each["metadata"] for each in ai_gateway if each["kind"] == "Service"]
    assert service == f"{found['name']}.{found['namespace']}.svc.cluster.local"


def test_the_webhook_of_ai_gateway_is_asked_about_pods_of_one_namespace(made: Made) -> None:
    found = made["ai-gateway-helm"]
    (webhook,) = [hook for each in found if each["kind"] == "MutatingWebhookConfiguration" for hook in each["webhooks"]]
    assert webhook["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "envoy-gateway-system"}
    assert {each["kind"] for each in found} >= {"Certificate", "Issuer"}


def test_a_chart_waits_for_charts_that_stand_before_it_in_the_table() -> None:
    order = list(CHARTS)
    for name, (_, chart) in CHARTS.items():
        assert all(order.index(each) < order.index(name) for each in chart.after)


def test_every_chart_comes_from_an_oci_registry_at_a_version_and_no_name_is_used_twice() -> None:
    charts = [chart for facts in PARTS.values() for chart in facts.charts]
    assert all(chart.repository.startswith("oci://") and chart.version for chart in charts)
    assert len({chart.name for chart in charts}) == len(charts)
    names = [each.name for chart in charts for each in chart.workloads]
    assert len(set(names)) == len(names)
