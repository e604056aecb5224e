"""Observed objects for the tests of the schedule step, as Crossplane would hand them over."""

from typing import Any

from modelplane.model.names import replica_name
from modelplane.schedule import STEPS
from modelplane.step import Object, Request, Requirement

TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
BIG = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("100Gi")) >= 0'


def _object(body: dict[str, Any]) -> Object:
    return Object(body, repr(body))


def member(cel: str = BIG, count: int = 8, **parts: Any) -> dict[str, Any]:
    devices = [{"name": "gpu", "count": count, "selectors": [{"cel": cel}]}]
    return {"nodeSelector": {"devices": devices}, "template": TEMPLATE, **parts}


def deployment(name: str = "qwen", **spec: Any) -> Object:
    spec = {"replicas": 1, "engines": [{"name": "main", "members": [member()]}], **spec}
    metadata = {"name": name, "namespace": "ml", "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return _object(
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "metadata": metadata, "spec": spec}
    )


def cluster(name: str, nodes: int = 1, memory: str = "140Gi", **parts: Any) -> Object:
    gpu = {
        "name": "gpu",
        "claim": "DRA",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": 8,
        "capacity": {"memory": {"value": memory}},
    }
    status = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "gateway": {"address": f"{name}.example.org"},
        "gpuPools": [{"name": "pool", "nodes": nodes, "devices": [gpu]}],
        **parts.pop("status", {}),
    }
    metadata = {"name": name, "labels": {"region": "eu"}, **parts.pop("metadata", {})}
    return _object(
        {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "InferenceCluster",
            "metadata": metadata,
            "spec": {"cluster": {"source": "Existing"}, **parts.pop("spec", {})},
            "status": status,
        }
    )


def replica(on: str, index: int = 0, *, owner: str = "qwen", served: bool = True, **parts: Any) -> Object:
    """Return the replica that `owner` has on (cluster, index), stamped with the default engine."""
    requests = [{"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 8, "selectors": [{"cel": BIG}]}]
    engine = {"name": "main", "members": [{"nodePoolName": "pool", "deviceRequests": requests, "template": TEMPLATE}]}
    metadata = {
        "name": replica_name("ml", owner, on, index),
        "namespace": "ml",
        "uid": f"uid-{owner}-{on}-{index}",
        "creationTimestamp": "2026-01-01T00:01:00Z",
        "labels": {"modelplane.ai/cluster": on, "modelplane.ai/replica-index": str(index)},
        "annotations": {"crossplane.io/composition-resource-name": f"replica-{on}-{index}"},
        "ownerReferences": [{"uid": f"uid-{owner}", "controller": True}],
        **parts.pop("metadata", {}),
    }
    status = {"served": served, "conditions": [{"type": "Ready", "status": "True" if served else "False"}]}
    return _object(
        {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "ModelReplica",
            "metadata": metadata,
            "spec": {"clusterName": on, "engines": [engine], **parts.pop("spec", {})},
            "status": {**status, **parts.pop("status", {})},
        }
    )


def cache(name: str = "weights", **parts: Any) -> Object:
    metadata = {"name": name, "namespace": "ml"}
    return _object({"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCache", "metadata": metadata, **parts})


class Server:
    """Answers requirements from a set of objects, as Crossplane does from the API server, and counts what it sent."""

    def __init__(self, *objects: Object) -> None:
        self.objects = objects
        self.asked: dict[str, int] = {}

    def fetch(self, wanted: Requirement) -> tuple[Object, ...]:
        found = [
            obj
            for obj in self.objects
            if obj.kind == wanted.kind
            and wanted.match_name in (None, obj.name)
            and wanted.namespace in (None, obj.namespace)
            and wanted.match_labels.items() <= obj.metadata.get("labels", {}).items()
        ]
        self.asked[wanted.name] = len(found)
        return tuple(sorted(found, key=lambda obj: (obj.namespace, obj.name)))


def run(composite: Object, server: Server, *observed: Object, version: str = "") -> tuple[Any, int]:
    """Return the stable result of the schedule step and the number of calls it took, at most six.

    `version` is what the Composition states.
    """
    seen = {obj.metadata["annotations"]["crossplane.io/composition-resource-name"]: obj for obj in observed}
    request, asked = Request(composite, observed=seen, version=version), None
    for calls in range(1, 7):
        server.asked.clear()
        result = STEPS["ModelDeployment"](request)
        if result.fatal is not None or result.requirements == asked:
            for wanted in result.requirements:
                server.fetch(wanted)
            return result, calls
        asked = result.requirements
        required = {wanted.name: server.fetch(wanted) for wanted in asked}
        context = {**request.context, **result.context}
        request = Request(composite, observed=seen, required=required, context=context, version=version)
    raise AssertionError("the requirements did not stabilize within Crossplane's rounds")
