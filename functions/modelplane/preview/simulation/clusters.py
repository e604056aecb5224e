"""The clusters: the status of each kind of object on a healthy one, as its own controllers write it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from modelplane.reading.kinds import qualify
from modelplane.reading.tree import Manifest, Tree, child, mapping

#: Gateways of simulated clusters answer under this domain.
GATEWAY_DOMAIN = "gateways.example"


def status_on_cluster(obj: Manifest, cluster: str) -> Tree | None:
    """Return the status of an object on the cluster of this name; None for kinds that have none."""
    kind = qualify(str(obj.get("apiVersion", "")), str(obj.get("kind", "")))
    found = _ANSWERS.get(kind)
    return found(obj, cluster) if found else None


def _count(obj: Manifest, *path: str) -> int:
    found = child(obj, "spec", *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 1


def _true(*kinds: str) -> list[Tree]:
    return [{"type": kind, "status": "True", "reason": kind} for kind in kinds]


def _replicated(obj: Manifest, *counts: str) -> Tree:
    """Return a status whose counts all equal what is asked for."""
    generation = child(obj, "metadata", "generation")
    return {"observedGeneration": generation, **dict.fromkeys(counts, _count(obj, "replicas"))}


def _deployment(obj: Manifest, _: str) -> Tree:
    counts = _replicated(obj, "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {**counts, "conditions": _true("Available", "Progressing")}


def _stateful_set(obj: Manifest, _: str) -> Tree:
    return _replicated(obj, "replicas", "updatedReplicas", "currentReplicas", "readyReplicas", "availableReplicas")


def _daemon_set(obj: Manifest, _: str) -> Tree:
    counts = ("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady")
    return _replicated(obj, *counts, "numberAvailable")


def _leader_worker_set(obj: Manifest, _: str) -> Tree:
    counts = _replicated(obj, "replicas", "updatedReplicas", "readyReplicas")
    return {**counts, "conditions": [*_true("Available"), {"type": "Progressing", "status": "False", "reason": "Done"}]}


def _job(obj: Manifest, _: str) -> Tree:
    return {"succeeded": _count(obj, "completions"), "conditions": _true("SuccessCriteriaMet", "Complete")}


def _claim(obj: Manifest, _: str) -> Tree:
    capacity = dict(mapping(obj, "spec", "resources", "requests"))
    return {"phase": "Bound", "accessModes": child(obj, "spec", "accessModes") or [], "capacity": capacity}


def _namespace(_: Manifest, __: str) -> Tree:
    return {"phase": "Active"}


def _pod(_: Manifest, __: str) -> Tree:
    return {"phase": "Running", "conditions": _true("PodScheduled", "Initialized", "ContainersReady", "Ready")}


def _gateway(_: Manifest, cluster: str) -> Tree:
    address = {"type": "Hostname", "value": f"{cluster}.{GATEWAY_DOMAIN}"}
    return {"addresses": [address], "conditions": _true("Accepted", "Programmed")}


def _service(obj: Manifest, cluster: str) -> Tree:
    if child(obj, "spec", "type") != "LoadBalancer":
        return {"loadBalancer": {}}
    return {"loadBalancer": {"ingress": [{"hostname": f"{child(obj, 'metadata', 'name')}.{cluster}.{GATEWAY_DOMAIN}"}]}}


def _route(obj: Manifest, _: str) -> Tree:
    """Return the status of what attaches to Gateways: accepted by every parent."""
    parents: Any = child(obj, "spec", "parentRefs") or []
    return {
        "parents": [
            {
                "parentRef": parent,
                "controllerName": "gateway.envoyproxy.io/gatewayclass-controller",
                "conditions": _true("Accepted", "ResolvedRefs"),
            }
            for parent in parents
        ]
    }


_ANSWERS: Mapping[str, Callable[[Manifest, str], Tree]] = MappingProxyType(
    {
        "DaemonSet.apps": _daemon_set,
        "Deployment.apps": _deployment,
        "Gateway.gateway.networking.k8s.io": _gateway,
        "HTTPRoute.gateway.networking.k8s.io": _route,
        "InferencePool.inference.networking.k8s.io": _route,
        "Job.batch": _job,
        "LeaderWorkerSet.leaderworkerset.x-k8s.io": _leader_worker_set,
        "Namespace": _namespace,
        "PersistentVolumeClaim": _claim,
        "Pod": _pod,
        "Service": _service,
        "StatefulSet.apps": _stateful_set,
    }
)
