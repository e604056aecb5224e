"""The example fleet and deployments on clusters that run: two clusters of the fleet stand for all."""

from collections.abc import Iterator

import yaml

from modelplane.model.names import API_VERSION, LABEL_DEPLOYMENT
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.gateways.controller import served_models

TEAM = "ml"
#: The clusters of the example fleet that the first sites stand for.
CLUSTERS = ("us-east-1", "us-west-2")
#: The deployments of the pages on services, and the model of each; the model of docs/try.md.
PAGES = {"llama": "example/model", "canary": "example/model"}
TRIED = "Qwen/Qwen3-8B"


def manifests(folder: str) -> Iterator[Manifest]:
    """Return the manifests of a folder under examples/."""
    for file in sorted((ROOT / "examples" / folder).glob("*.yaml")):
        yield from (found for found in yaml.safe_load_all(file.read_text()) if found)


def apply_fleet(plane: ControlPlane) -> None:
    """Apply the classes of the example fleet, and the clusters of it that run, each on a site, with its nodes."""
    sites = dict(zip(CLUSTERS, plane.sites, strict=False))
    classes = [found for found in manifests("fleet") if found["kind"] == "InferenceClass"]
    for inference_class in classes:
        plane.hub.api.apply(inference_class)
    for found in manifests("fleet"):
        if site := sites.get(found["metadata"]["name"]):
            plane.sites[site].create_nodes(found, classes)
            plane.connect(found, site)


def apply_team(plane: ControlPlane) -> None:
    """Create the namespace of the example deployments, and the Secret that some of their engines name."""
    plane.hub.api.apply(namespace(TEAM))
    metadata = {"name": "hugging-face", "namespace": TEAM}
    plane.hub.api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": "none"}})


def apply_service(plane: ControlPlane, name: str) -> None:
    """Create a ModelService over the deployment of the same name."""
    selector = {"matchLabels": {LABEL_DEPLOYMENT: name}}
    spec = {"endpoints": [{"name": name, "selector": selector}]}
    metadata = {"name": name, "namespace": TEAM}
    plane.hub.api.apply({"apiVersion": API_VERSION, "kind": "ModelService", "metadata": metadata, "spec": spec})


def example_models() -> list[str]:
    """Return the names that the engines of the example deployments and of the pages serve."""
    specs = [found["spec"] for found in manifests("deployments") if found["kind"] == "ModelDeployment"]
    members = [member for spec in specs for engine in spec.get("engines", ()) for member in engine["members"]]
    named = [name for member in members for name in served_models(member["template"]["spec"])]
    return sorted({*named, *PAGES.values(), TRIED})


def tried_deployment() -> str:
    """Return the deployment of docs/try.md, as the page has it."""
    page = (ROOT / "docs" / "try.md").read_text()
    return page.partition("```yaml\n# try.yaml\n")[2].partition("```")[0]


def page_deployments() -> str:
    """Return the deployments of the pages on services, as manifests."""
    return yaml.safe_dump_all(
        _page_deployment(name, replicas=replicas) for name, replicas in (("llama", 2), ("canary", 1))
    )


def _page_deployment(name: str, *, replicas: int) -> Manifest:
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20Gi")) >= 0'
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.15.0", "args": [f"--model={PAGES[name]}"]}
    member = {
        "nodeSelector": {"devices": [{"name": "gpu", "selectors": [{"cel": selector}]}]},
        "template": {"spec": {"containers": [container]}},
    }
    spec = {
        "replicas": replicas,
        "drainSeconds": 5,
        "clusterSelector": {"matchLabels": {"region": "us"}},
        "engines": [{"name": "main", "members": [member]}],
    }
    metadata = {"name": name, "namespace": TEAM}
    return {"apiVersion": API_VERSION, "kind": "ModelDeployment", "metadata": metadata, "spec": spec}


def apply_deployment(plane: ControlPlane, name: str) -> Manifest:
    """Apply one of the example deployments; return its manifest."""
    manifest = next(found for found in manifests("deployments") if found["metadata"]["name"] == name)
    plane.hub.api.apply(manifest)
    return manifest
