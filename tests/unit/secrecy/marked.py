"""A fleet in which every value of every Secret carries a mark, and the composites that functions are called for."""

import base64
import copy
from collections.abc import Iterator
from typing import Any

from bench.passes import Scene, Store
from modelplane.model.names import API_VERSION
from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import pipeline_of
from modelplane_dev.folders import ROOT
from render.examples import EXAMPLES, documents

Manifest = dict[str, Any]

#: 18 characters: where it begins a value, its base64 is a part of the value's.
MARK = "mark-of-a-secret-7"
IN_BASE64 = base64.b64encode(MARK.encode()).decode()
#: Every form in which a value could get out.
FORMS = (MARK, IN_BASE64, base64.b64encode(IN_BASE64.encode()).decode(), MARK.encode().hex())

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


CATALOGUE = tuple(documents(ROOT / "examples" / "catalogue"))
#: One that names Secrets, and one that is served from a cache.
_DEPLOYMENTS = {"llama-3.3-70b-rdma", "qwen3-coder-30b"}

#: What a cluster that is made is described by.
_MADE = ("InferenceClass", "InferenceCluster")


def _value(text: str) -> str:
    return base64.b64encode((MARK + text).encode()).decode()


def secret(name: str, namespace: str, **fields: Any) -> Manifest:
    """Return a Secret as an API server holds it, with marked values under every key that something here names."""
    data = {key: _value(f"-of-{key}") for key in ("token", "kubeconfig", ".dockerconfigjson")}
    annotations = {_LAST_APPLIED: f'{{"stringData":{{"token":"{MARK}"}}}}'}
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data, **fields}


def _with_pull_secrets(deployment: Manifest) -> Manifest:
    for engine in deployment["spec"]["engines"]:
        for member in engine["members"]:
            member["template"]["spec"]["imagePullSecrets"] = [{"name": "registry"}]
    return deployment


def _object(kind: str, name: str, spec: Manifest, namespace: str | None = "ml", **labels: str) -> Manifest:
    metadata = {"name": name, "labels": labels} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _routing() -> Iterator[Manifest]:
    """Yield a gateway, a provider with a credential, and a service with a key that both replicas and provider serve."""
    yield _object("InferenceGateway", "default", {}, namespace=None)
    yield secret("provider", "ml")
    # A prefix of 6 bytes, behind which the base64 of a mark is what it is at the beginning.
    credential = {"secretRef": {"name": "provider", "key": "token"}, "prefix": "Token "}
    spec = {"url": "https://api.example.com/openai/v1", "credential": credential, "model": "large"}
    yield _object("ModelEndpoint", "provider", spec, provider="example")
    yield secret("callers", "ml")
    selectors = ({"provider": "example"}, {"modelplane.ai/deployment": "qwen3-coder-30b"})
    entries = [{"name": f"e{at}", "selector": {"matchLabels": each}} for at, each in enumerate(selectors)]
    keys = [{"name": "search", "secretRef": {"name": "callers", "key": "token"}}]
    yield _object("ModelService", "chat", {"endpoints": entries, "keys": keys})


def _manifests() -> Iterator[Manifest]:
    yield from _routing()
    yield from (each for each in CATALOGUE if each["kind"] == "ClusterModel")
    yield from (each for each in documents(ROOT / "examples" / "tour") if each["kind"] in _MADE)
    yield secret("hugging-face", "ml")
    yield secret("registry", "ml", type="kubernetes.io/dockerconfigjson")
    for example in copy.deepcopy(EXAMPLES):
        if example["kind"] == "ModelDeployment" and example["metadata"]["name"] not in _DEPLOYMENTS:
            continue
        if example["kind"] == "InferenceCluster":
            example["spec"]["stack"] = {"metrics": "Managed"}
            yield secret(example["spec"]["cluster"]["existing"]["secretRef"]["name"], "modelplane-system")
        if example["kind"] == "ModelCache":
            example["spec"]["huggingFace"]["authSecret"] = {"name": "hugging-face", "key": "token"}
        yield _with_pull_secrets(example) if example["kind"] == "ModelDeployment" else example


#: The manifests of the fleet.
FLEET = tuple(_manifests())


def _as_provider_holds_it(obj: Manifest) -> Manifest:
    """Return an object as the API server holds it; values of Secrets, or that a provider put into one, are marked."""
    manifest = obj.get("spec", {}).get("forProvider", {}).get("manifest", {})
    if obj["kind"] == "InferenceGateway":  # the preview issues no certificates, without which the router does not serve
        services = {**obj["status"].get("services", {}), "router": "router.modelplane-system.svc"}
        return {**obj, "status": {**obj["status"], "services": services}}
    if obj["kind"] == "Secret":
        return {**obj, "data": {key: _value("") for key in obj.get("data", {})}}
    if obj["kind"] != "Object" or manifest.get("kind") != "Secret":
        return obj
    held = {**secret("x", "y"), **manifest, "data": {"token": _value("")}}
    return {
        **obj,
        "spec": {**obj["spec"], "forProvider": {"manifest": held}},
        "status": {"atProvider": {"manifest": held}},
    }


def scenes() -> Iterator[Scene]:
    """Yield each composite of the settled fleet, with what it composed and all there is, as requests hold it."""
    control = ControlPlane(FLEET)
    assert control.settle()
    given = {each["metadata"]["name"] for each in FLEET if each["kind"] == "Secret"}
    everything = [
        _as_provider_holds_it(obj)
        for obj in control.everything()
        if obj["kind"] != "Secret" or obj["metadata"]["name"] not in given
    ]
    everything += [{**each, "metadata": {**each["metadata"], "uid": "u"}} for each in FLEET if each["kind"] == "Secret"]
    store = Store(everything)
    for composite in everything:
        group = composite["apiVersion"].rpartition("/")[0]
        if pipeline_of(f"{composite['kind']}.{group}") is not None:
            yield Scene(composite, dict(_composed_by(composite, everything)), store)


def _composed_by(composite: Manifest, everything: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    for obj in everything:
        owners = obj["metadata"].get("ownerReferences", [])
        if any(each.get("controller") and each["uid"] == composite["metadata"]["uid"] for each in owners):
            yield obj["metadata"]["annotations"]["crossplane.io/composition-resource-name"], obj
