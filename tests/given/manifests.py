"""A fleet and deployments for it, as the manifests that a user writes."""

from typing import Any

Manifest = dict[str, Any]

#: The devices of a node of `hardware`.
WHOLE_NODE = 8


def hardware(name: str = "gpu-class", count: int = WHOLE_NODE, memory: str = "80Gi") -> Manifest:
    """Return an InferenceClass: nodes of `count` GPUs with this memory."""
    gpu = {"name": "gpu", "driver": "gpu.example.org", "deviceClassName": "gpu.example.org", "count": count}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": [{**gpu, "capacity": {"memory": {"value": memory}}}]},
    }


def cluster(name: str, nodes: int = 1, pool: str = "pool", **spec: Any) -> Manifest:
    """Return an existing InferenceCluster with one pool of the class `gpu-class`."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": name}}},
            "nodePools": [{"name": pool, "className": "gpu-class", "nodeCount": nodes}],
            **spec,
        },
    }


def member(gpus: int = WHOLE_NODE, memory: str = "10Gi", **fields: Any) -> Manifest:
    """Return a member whose pods take `gpus` devices with at least this memory."""
    cel = f'device.capacity["gpu.example.org"].memory.compareTo(quantity("{memory}")) >= 0'
    return {
        "nodeSelector": {"devices": [{"name": "gpu", "count": gpus, "selectors": [{"cel": cel}]}]},
        "template": {"spec": {"containers": [{"name": "engine", "image": "example.org/engine:v1"}]}},
        **fields,
    }


def gang(nodes: int = 1) -> list[Manifest]:
    """Return the members of a gang of a leader and `nodes` workers, each on a node of its own."""
    return [member(role="Leader"), member(role="Worker", worker={"nodes": nodes})]


def deployment(name: str = "chat", replicas: int = 1, gpus: int = WHOLE_NODE, memory: str = "10Gi") -> Manifest:
    """Return a ModelDeployment of one engine, whose pods take `gpus` devices with at least this memory."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"replicas": replicas, "engines": [{"name": "main", "members": [member(gpus, memory)]}]},
    }


def in_place(*members: Manifest, engine: str = "main", copies: int = 1, **spec: Any) -> Manifest:
    """Return a ModelDeployment of one replica and one engine, which an edit changes where it stands."""
    made = deployment()
    made["spec"] |= {
        "rollout": {"maxSurge": 0, "maxUnavailable": 1},
        "engines": [{"name": engine, "copies": copies, "members": list(members or [member(role="Standalone")])}],
        **spec,
    }
    return made


def prefill_decode() -> Manifest:
    """Return the same of a replica that is split into a prefill and a decode engine."""
    phases: dict[str, tuple[str, list[str]]] = {"prefill": ("Prefill", []), "decode": ("Decode", ["--port=8001"])}
    made = in_place(serving={"mode": "PrefillDecode"})
    made["spec"]["engines"] = []
    for name, (phase, args) in phases.items():
        half = member(role="Standalone")
        half["template"]["spec"]["containers"][0]["args"] = args
        made["spec"]["engines"].append({"name": name, "phase": phase, "members": [half]})
    return made


def cache() -> Manifest:
    """Return a ModelCache."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "team"},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": "org/model", "sizeGiB": 1}},
    }
