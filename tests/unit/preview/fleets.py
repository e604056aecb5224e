"""A small fleet and deployments for it, as the manifests that a user writes."""

from typing import Any


def hardware(name: str = "gpu-class", count: int = 8, memory: str = "80Gi") -> dict[str, Any]:
    """Return an InferenceClass: nodes of `count` GPUs with this memory."""
    gpu = {"name": "gpu", "driver": "gpu.example.org", "deviceClassName": "gpu.example.org", "count": count}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": [{**gpu, "capacity": {"memory": {"value": memory}}}]},
    }


def cluster(name: str, nodes: int = 1, pool: str = "pool", **spec: Any) -> dict[str, Any]:
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


def deployment(name: str = "chat", replicas: int = 1, gpus: int = 8, memory: str = "10Gi") -> dict[str, Any]:
    """Return a ModelDeployment of one engine, whose pods take `gpus` devices with at least this memory."""
    cel = f'device.capacity["gpu.example.org"].memory.compareTo(quantity("{memory}")) >= 0'
    member = {
        "nodeSelector": {"devices": [{"name": "gpu", "count": gpus, "selectors": [{"cel": cel}]}]},
        "template": {"spec": {"containers": [{"name": "engine", "image": "example.org/engine:v1"}]}},
    }
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"replicas": replicas, "engines": [{"name": "main", "members": [member]}]},
    }
