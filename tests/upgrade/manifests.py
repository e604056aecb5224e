"""Manifests as users write them, from which the scenes are built."""

from collections.abc import Iterable
from typing import Any

Manifest = dict[str, Any]

API = "modelplane.ai/v1alpha1"
TEAM = "team"
DRIVER = "gpu.example.org"


def device(name: str = "gpu", memory: str = "80Gi", count: int = 8, **fields: Any) -> Manifest:
    """Return a device entry of an InferenceClass."""
    entry: Manifest = {"name": name, "driver": DRIVER, "count": count, "capacity": {"memory": {"value": memory}}}
    if fields.get("claim") != "Synthetic":
        entry["deviceClassName"] = DRIVER
    return {**entry, **fields}


def hardware(name: str, *devices: Manifest) -> Manifest:
    """Return an InferenceClass."""
    spec = {"devices": list(devices) or [device()]}
    return {"apiVersion": API, "kind": "InferenceClass", "metadata": {"name": name}, "spec": spec}


def pool(name: str, nodes: int, of: str = "gpus", **fields: Any) -> Manifest:
    return {"name": name, "className": of, "nodeCount": nodes, **fields}


def cluster(name: str, *pools: Manifest, storage: str = "", **spec: Any) -> Manifest:
    """Return an existing InferenceCluster, which carries its own name as the label `name`."""
    existing: Manifest = {"secretRef": {"name": name}}
    if storage:
        existing["cache"] = {"storageClassName": storage}
    source = {"source": "Existing", "existing": existing}
    return {
        "apiVersion": API,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {"name": name}},
        "spec": {"cluster": source, "nodePools": list(pools), **spec},
    }


def at_least(memory: str) -> str:
    return f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{memory}")) >= 0'


def request(count: int = 1, memory: str = "10Gi", name: str = "gpu") -> Manifest:
    return {"name": name, "count": count, "selectors": [{"cel": at_least(memory)}]}


def member(
    *requests: Manifest, pod: Manifest | None = None, metadata: Manifest | None = None, **fields: Any
) -> Manifest:
    """Return a member of an engine; `pod` are fields of its container, imagePullSecrets those of its pod."""
    pulls = fields.pop("imagePullSecrets", None)
    spec: Manifest = {"containers": [{"name": "engine", "image": "example.org/engine:v1", **(pod or {})}]}
    if pulls:
        spec["imagePullSecrets"] = [{"name": name} for name in pulls]
    template: Manifest = {"spec": spec}
    if metadata:
        template["metadata"] = metadata
    made: Manifest = {"template": template, **fields}
    if requests:
        made["nodeSelector"] = {"devices": list(requests)}
    return made


def engine(*members: Manifest, name: str = "main", **fields: Any) -> Manifest:
    return {"name": name, "members": list(members) or [member(request())], **fields}


def gang(name: str = "main", port: int = 8000, nodes: int = 1, **fields: Any) -> Manifest:
    """Return an engine of a leader and `nodes` workers, each on whole nodes."""
    leader = member(request(8), role="Leader", pod={"args": ["--head", f"--port={port}"]})
    worker = member(request(8), role="Worker", worker={"nodes": nodes}, pod={"args": ["--join"]})
    return engine(leader, worker, name=name, **fields)


def deployment(
    name: str, *engines: Manifest, replicas: int = 1, annotations: Manifest | None = None, **spec: Any
) -> Manifest:
    """Return a ModelDeployment of the team."""
    metadata: Manifest = {"name": name, "namespace": TEAM}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": API,
        "kind": "ModelDeployment",
        "metadata": metadata,
        "spec": {"replicas": replicas, "engines": list(engines) or [engine()], **spec},
    }


def on(name: str) -> Manifest:
    """Return a clusterSelector for the cluster of this name."""
    return {"matchLabels": {"name": name}}


def cache(name: str, revision: str = "main", **fields: Any) -> Manifest:
    """Return a ModelCache of the team."""
    selector = fields.pop("clusterSelector", None)
    source: Manifest = {"repo": "example/model", "revision": revision, "sizeGiB": 40, **fields}
    spec: Manifest = {"source": "HuggingFace", "huggingFace": source}
    if selector:
        spec["clusterSelector"] = selector
    return {"apiVersion": API, "kind": "ModelCache", "metadata": {"name": name, "namespace": TEAM}, "spec": spec}


def replica(name: str, cluster_name: str, pool_name: str, labelled: str = "") -> Manifest:
    """Return a ModelReplica written by hand; `labelled`: the value of its cluster label, none when empty."""
    metadata: Manifest = {"name": name, "namespace": TEAM}
    if labelled:
        metadata["labels"] = {"modelplane.ai/cluster": labelled}
    requests = [{"name": "gpu", "deviceClassName": DRIVER, "count": 1}]
    alone = {**member(), "role": "Standalone", "nodePoolName": pool_name, "deviceRequests": requests}
    spec = {"clusterName": cluster_name, "engines": [engine(alone)]}
    return {"apiVersion": API, "kind": "ModelReplica", "metadata": metadata, "spec": spec}


def secret(name: str, kind: str = "Opaque") -> Manifest:
    """Return a Secret of the team."""
    key = ".dockerconfigjson" if kind == "kubernetes.io/dockerconfigjson" else "token"
    metadata = {"name": name, "namespace": TEAM}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": {key: "e30="}}


def pull_secret(name: str) -> Manifest:
    return secret(name, "kubernetes.io/dockerconfigjson")


def config_map(name: str) -> Manifest:
    metadata = {"name": name, "namespace": TEAM}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"level": "debug"}}


def from_secret(name: str, key: str = "token") -> Manifest:
    return {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}


def from_config_map(name: str) -> Manifest:
    return {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": name, "key": "level"}}}


def variables(values: Iterable[str]) -> list[Manifest]:
    return [{"name": f"VARIABLE_{number:04}", "value": value} for number, value in enumerate(values)]
