"""Objects of an inference cluster, as its API server lists them."""

from typing import Any

UID = "0000-1111"


def node(name: str, pool: str | None = "h100", *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    """Return a node with 8 CPUs and 64 GiB for pods."""
    return {
        "metadata": {"name": name, "labels": {"modelplane.ai/pool": pool} if pool else {}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "7910m", "memory": "64Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
        },
    }


def gpu(name: str, memory: str = "80Gi", **fields: Any) -> dict[str, Any]:
    """Return a device."""
    attributes = {"productName": {"string": "H100"}, "uuid": {"string": f"GPU-{name}"}}
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": memory}}, **fields}


def devices(on: str, *found: dict[str, Any], generation: int = 1, slices: int = 1, **spec: Any) -> dict[str, Any]:
    """Return a ResourceSlice of a node."""
    pool = {"name": on, "generation": generation, "resourceSliceCount": slices}
    return {"spec": {"driver": "gpu.nvidia.com", "nodeName": on, "pool": pool, "devices": list(found), **spec}}


def claim(name: str, on: str, *, pod: str = "", **result: Any) -> dict[str, Any]:
    """Return a ResourceClaim that has device gpu-0 of a node, of the pod with a uid."""
    owners = [{"kind": "Pod", "uid": pod}] if pod else []
    results = [{"request": "gpu", "driver": "gpu.nvidia.com", "pool": on, "device": "gpu-0", **result}]
    return {
        "metadata": {"name": name, "namespace": "lab", "ownerReferences": owners},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": owners},
    }


def pod(uid: str) -> dict[str, Any]:
    """Return a pod of an engine."""
    return {"metadata": {"name": f"chat-{uid}", "uid": uid}}
