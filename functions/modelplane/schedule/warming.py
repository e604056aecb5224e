"""Does what the first pass of a process would wait for, before the server reports ready.

Loading the grammar of selectors takes longer than a pass over a thousand clusters. Models, matching and room are
imported and used once; the schedule is discarded.
"""

from typing import Any, Final

from modelplane.model.names import API_VERSION
from modelplane.schedule.deployment import compose
from modelplane.step import Object, Request

_MEMORY: Final = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0'
_GPU: Final = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.example.com",
    "deviceClassName": "gpu.example.com",
    "count": 1,
    "capacity": {"memory": {"value": "2Gi"}},
}


def _object(kind: str, spec: dict[str, Any], status: dict[str, Any] | None = None) -> Object:
    metadata = {"name": "warm", "namespace": "" if kind == "InferenceCluster" else "warm", "uid": f"warm-{kind}"}
    body = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec, "status": status or {}}
    return Object(body, ("warm", kind))


def warm() -> None:
    """Schedule one replica on one cluster, through all calls of a pass."""
    devices = [{"name": "gpu", "count": 1, "selectors": [{"cel": _MEMORY}]}]
    template = {"spec": {"containers": [{"name": "engine", "image": "engine"}]}}
    member = {"role": "Standalone", "nodeSelector": {"devices": devices}, "template": template}
    deployment = _object("ModelDeployment", {"engines": [{"name": "main", "members": [member]}]})
    pools = [{"name": "pool", "nodes": 1, "devices": [_GPU], "charged": ""}]
    status = {"conditions": [{"type": "Ready", "status": "True"}], "gateway": {"address": "warm"}, "gpuPools": pools}
    cluster = _object("InferenceCluster", {"cluster": {"source": "Existing"}}, status)
    request, before = Request(deployment), None
    while (result := compose(request)).requirements != before:
        before = result.requirements
        there = {each.name: (cluster,) if each.kind == "InferenceCluster" else () for each in before}
        request = Request(deployment, required=there, context=result.context)
