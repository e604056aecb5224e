"""The words in which scenarios are written: a class, a cluster, a deployment."""

from typing import Any

from modelplane.model.names import API_VERSION


def gpu_class(name: str, *, count: int = 8, memory: str = "81559Mi") -> dict[str, Any]:
    """Return an InferenceClass of one kind of GPU."""
    gpu = {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {"productName": {"string": f"NVIDIA {name}"}, "cudaComputeCapability": {"version": "9.0.0"}},
        "capacity": {"memory": {"value": memory}},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": [gpu]},
    }


def member(gpus: int, role: str = "Standalone", **fields: Any) -> dict[str, Any]:
    """Return a member of an engine whose pod asks for GPUs of at least 40 GiB; `fields` are added."""
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
    request = {"name": "gpu", "count": gpus, "selectors": [{"cel": selector}]}
    container = {"name": "engine", "image": "registry.example.org/engine:v1", "args": ["--model=example/model"]}
    template = {"spec": {"containers": [container]}}
    return {"role": role, "nodeSelector": {"devices": [request]}, "template": template, **fields}


def engine(gpus: int, *, copies: int = 1, workers: int = 0) -> dict[str, Any]:
    """Return an engine: of one pod, or of a leader and workers, each pod with so many GPUs."""
    gang = [member(gpus, "Leader"), member(gpus, "Worker", worker={"nodes": workers})]
    members = gang if workers else [member(gpus)]
    return {"name": "main", "copies": copies, "members": members}


def deployment(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """Return a ModelDeployment of one replica; `spec` adds fields, its engines among them."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "engines": [engine(1)], **spec},
    }
