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


def deployment(name: str, namespace: str, *, gpus: int = 1, **spec: Any) -> dict[str, Any]:
    """Return a ModelDeployment of one Standalone engine that asks for GPUs of at least 40 GiB; `spec` adds fields."""
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
    request = {"name": "gpu", "count": gpus, "selectors": [{"cel": selector}]}
    container = {"name": "engine", "image": "registry.example.org/engine:v1", "args": ["--model=example/model"]}
    member = {"nodeSelector": {"devices": [request]}, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "engines": [{"name": "main", "members": [member]}], **spec},
    }
