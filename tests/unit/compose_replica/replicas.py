"""ModelReplicas, clusters and the Objects a provider would have made of what a pass wants, as test inputs."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden import inputs
from modelplane.compose_replica.replica import compose
from modelplane.model.conditions import Condition
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.step import Object, Request, Requirement, Result

#: Replicas with all that they can have, by topology; golden files beside them say what each composes.
TOPOLOGIES = inputs(Path(__file__).with_name("golden"), "replica")
CLUSTER = "eu-1"
SEEN_AT = "2026-01-02T03:04:05Z"


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "engine", "image": "vllm/vllm-openai:v0.11.0", **fields}


def member(**fields: Any) -> dict[str, Any]:
    gpu = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1}
    template = {"spec": {"containers": [container()]}}
    return {"role": "Standalone", "nodePoolName": "l4", "deviceRequests": [gpu], "template": template, **fields}


def gang(copies: int = 1, nodes: int = 1, name: str = "main", **fields: Any) -> dict[str, Any]:
    """Return an engine of a leader and `nodes` workers; `fields` are the leader's."""
    members = [member(role="Leader", **fields), member(role="Worker", worker={"nodes": nodes})]
    return engine(name, copies=copies, members=members)


def engine(name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "copies": 1, "members": [member()], **fields}


def replica(*engines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    labels = {"modelplane.ai/deployment": "qwen", "modelplane.ai/cluster": CLUSTER}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelReplica",
        "metadata": {"name": "qwen-0a1b2c3d", "namespace": "team", "labels": labels},
        "spec": {"clusterName": CLUSTER, "engines": list(engines) or [engine()]},
        **fields,
    }


def cluster(status: Any = None, **metadata: Any) -> dict[str, Any]:
    reachable = {"providerConfigRef": {"name": CLUSTER}}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": CLUSTER, **metadata},
        "status": reachable if status is None else status,
    }


def obj(body: Mapping[str, Any]) -> Object:
    """Return an observed object under a key of its own: no test shares another's cached reading."""
    return Object(copy.deepcopy(dict(body)), object())


def secret(name: str = "token", kind: str = "Secret", **metadata: Any) -> dict[str, Any]:
    """Return a Secret or ConfigMap of the team as a step sees it: without values."""
    typed = {"type": "kubernetes.io/dockerconfigjson"} if name == "registry" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "team", **metadata}, **typed}


def others(replica: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a replica needs: its cluster, which can be reached, and the Secrets and the cache of its team."""
    cluster = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": replica["spec"]["clusterName"]},
        "spec": {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}},
        "status": {"providerConfigRef": {"name": replica["spec"]["clusterName"]}},
    }
    secrets = {"hugging-face": "Opaque", "registry": "kubernetes.io/dockerconfigjson"}
    namespace = replica["metadata"]["namespace"]
    staged = {
        "name": replica["spec"]["clusterName"],
        "phase": "Ready",
        "volume": {"name": "weights-1a2b3c4d", "uid": "u"},
    }
    cache = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": namespace},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-Coder-30B-A3B-Instruct", "sizeGiB": 80}},
        "status": {"clusters": [staged]},
    }
    return [cluster, cache] + [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "type": kind}
        for name, kind in secrets.items()
    ]


def alone(kind: str) -> Pipeline | None:
    """Return the pipelines of a control plane that knows ModelReplicas, and takes everything else as it is."""
    return pipeline_of(kind) if kind == "ModelReplica.modelplane.ai" else None


def staged(cache: str = "weights", **row: Any) -> dict[str, Any]:
    """Return a ModelCache of the team, staged on the replica's cluster but for what `row` says (None: left out)."""
    there = {"name": CLUSTER, "phase": "Ready", "volume": {"name": "v1", "uid": "u"}, **row}
    kept = {key: value for key, value in there.items() if value is not None}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": cache, "namespace": "team"},
        "status": {"clusters": [kept]},
    }


def _answer(asked: Requirement) -> list[dict[str, Any]]:
    """Return what is there of what a step asks for: its cluster, and every Secret, ConfigMap and ModelCache."""
    if asked.kind == "InferenceCluster":
        return [cluster()]
    if asked.kind in {"Secret", "ConfigMap"}:
        return [secret(str(asked.match_name), asked.kind, namespace=asked.namespace)]
    return [staged(str(asked.match_name))] if asked.kind == "ModelCache" else []


def run(body: Mapping[str, Any], observed: Mapping[str, Any] | None = None, **required: Any) -> Result:
    """Run the step on a replica with observed Objects, until it asks for nothing more.

    `required` are answers to its requirements by name (None: not fetched), `cluster` to that of its cluster; what is
    not given is there, as `_answer` says.
    """
    if "cluster" in required:
        required[f"cluster-{(body['spec'] or {}).get('clusterName')}"] = required.pop("cluster")
    composite, seen = obj(body), {name: obj(found) for name, found in (observed or {}).items()}
    answers = {name: tuple(map(obj, found)) for name, found in required.items() if found is not None}
    for _ in range(5):
        result = compose(Request(composite=composite, observed=seen, required=answers))
        more = [asked for asked in result.requirements if asked.name not in {*answers, *required}]
        if not more:
            return result
        answers |= {asked.name: tuple(map(obj, _answer(asked))) for asked in more}
    raise AssertionError("it asks for more on every call")


def manifest_of(result: Result, resource: str) -> dict[str, Any]:
    """Return what the Object of a resource puts on the cluster."""
    body = result.desired[resource].build()
    found: dict[str, Any] = body["spec"]["forProvider"]["manifest"]
    return found


def on_the_cluster(result: Result) -> list[str]:
    """Return the resources through which something is put on the cluster, in order."""
    bodies = {resource: desired.build() for resource, desired in result.desired.items()}
    return [name for name, body in bodies.items() if body["kind"] == "Object" and not only_looks(result, name)]


def only_looks(result: Result, resource: str) -> bool:
    """Tell whether an Object observes what it did not make."""
    return bool(result.desired[resource].build()["spec"].get("managementPolicies") == ["Observe"])


def serving_status(copies: int) -> dict[str, Any]:
    counts = dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"), copies)
    return {"observedGeneration": 1, **counts}


def synced(status: str = "True", message: str = "") -> dict[str, Any]:
    return {"type": "Synced", "status": status, "reason": "R", "message": message, "lastTransitionTime": SEEN_AT}


def provided(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is wanted as it is observed when its cluster has taken it and, for a workload, serves it."""
    found = copy.deepcopy(dict(body))
    there = copy.deepcopy(found["spec"].get("forProvider", {}).get("manifest"))
    ready = {"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": SEEN_AT}
    found["metadata"] = {**found["metadata"], "name": f"x-{(there or found)['kind'].lower()}"}
    found["status"] = {"conditions": [synced(), ready]}
    if there:
        there["metadata"]["generation"] = 1
        if there["kind"] in {"Deployment", "LeaderWorkerSet"}:
            there["status"] = serving_status(there["spec"]["replicas"])
        found["status"]["atProvider"] = {"manifest": there}
    return found


def serving(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return every Object of a replica as it is observed once all of it serves."""
    begun = {name: provided(desired.build()) for name, desired in run(body).desired.items()}
    # What follows from the first pass: the isolation of the namespace that it made.
    return {name: provided(desired.build()) for name, desired in run(body, begun).desired.items()}


def condition(result: Result, kind: str) -> Condition:
    return next(found for found in result.conditions if found.type == kind)


def pair(*decode: str, **fields: Any) -> dict[str, Any]:
    """Return a replica of a prefill and a decode engine; `decode` are the decode engine's args, `fields` the body's."""
    template = {"spec": {"containers": [container(args=list(decode))]}}
    engines = [engine("reader", phase="Prefill"), engine("writer", phase="Decode", members=[member(template=template)])]
    body = replica(*engines, **fields)
    body["spec"]["serving"] = {"mode": "PrefillDecode"}
    return body
