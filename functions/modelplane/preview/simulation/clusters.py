"""The status of each kind of object on a healthy cluster, as the cluster's own controllers write it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from modelplane.reading.kinds import qualify
from modelplane.reading.tree import Manifest, Tree, child, mapping

_JOB = "Job.batch"
_RUNNING_PODS = frozenset(
    {"DaemonSet.apps", "Deployment.apps", "LeaderWorkerSet.leaderworkerset.x-k8s.io", "StatefulSet.apps", _JOB}
)
#: Fields of a workload's status that count available pods.
_OF_AVAILABLE_PODS = frozenset({"readyReplicas", "availableReplicas", "numberReady", "numberAvailable"})

#: The kinds whose pods a rollout changes one copy after the other, and the count of those that it has changed.
_ROLLED = frozenset({"Deployment.apps", "LeaderWorkerSet.leaderworkerset.x-k8s.io"})
_UPDATED = "updatedReplicas"

#: Gateways of simulated clusters answer under this domain.
GATEWAY_DOMAIN = "gateways.example"


def status_on_cluster(obj: Manifest, cluster: str) -> Tree | None:
    """Return the status of an object on the cluster of this name; None for kinds that have none."""
    found = _ANSWERS.get(_kind(obj))
    return found(obj, cluster) if found else None


def status_while_starting(obj: Manifest, cluster: str, left: int = 0) -> Tree | None:
    """Return the status of an object whose pods start, but for `left` that are available and of an earlier template.

    A kind without pods has its normal status.
    """
    found = status_on_cluster(obj, cluster)
    if found is None or not runs_pods(obj):
        return found
    if _kind(obj) == _JOB:
        return {"active": 1}
    counts = dict.fromkeys(found.keys() & _OF_AVAILABLE_PODS, left)
    if left and _UPDATED in found:
        counts[_UPDATED] = _count(obj, "replicas") - left
    unavailable = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
    conditions = {"conditions": [unavailable]} if "conditions" in found and not left else {}
    return {**found, **counts, **conditions}


def left_by_rollout(obj: Manifest, before: Manifest, *, edited: bool) -> int:
    """Return how many pods of an earlier template a rollout leaves available, one copy being changed at a time.

    `before` is the last status, of another template if the object is `edited`. What is not rolled out has none.
    """
    copies, updated = _count(obj, "replicas"), before.get(_UPDATED)
    available = before.get("availableReplicas", before.get("readyReplicas"))
    if _kind(obj) not in _ROLLED or not isinstance(available, int) or not isinstance(updated, int):
        return 0
    return min(available, copies - 1) if edited or updated < copies else 0


def runs_pods(obj: Manifest) -> bool:
    """Tell whether an object makes pods."""
    return _kind(obj) in _RUNNING_PODS


def failing_pod(workload: Manifest, why: str) -> Tree:
    """Return a pod of a workload, labelled by its template, whose container cannot run, for the reason `why`."""
    spec = mapping(workload, "spec")
    gang = mapping(spec, "leaderWorkerTemplate")
    template = mapping(gang, "leaderTemplate") or mapping(gang, "workerTemplate") or mapping(spec, "template")
    waiting = {"waiting": {"reason": "RunContainerError", "message": why}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{child(workload, 'metadata', 'name')}-0",
            "namespace": str(child(workload, "metadata", "namespace") or ""),
            "labels": dict(mapping(template, "metadata", "labels")),
        },
        "status": {"phase": "Pending", "containerStatuses": [{"name": "engine", "ready": False, "state": waiting}]},
    }


def _kind(obj: Manifest) -> str:
    return qualify(str(obj.get("apiVersion", "")), str(obj.get("kind", "")))


def _count(obj: Manifest, *path: str) -> int:
    found = child(obj, "spec", *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 1


def _true(*kinds: str) -> list[Tree]:
    return [{"type": kind, "status": "True", "reason": kind} for kind in kinds]


def _replicated(obj: Manifest, *counts: str) -> Tree:
    """Return a status whose counts all equal spec.replicas."""
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
        _JOB: _job,
        "LeaderWorkerSet.leaderworkerset.x-k8s.io": _leader_worker_set,
        "Namespace": _namespace,
        "PersistentVolumeClaim": _claim,
        "Pod": _pod,
        "Service": _service,
        "StatefulSet.apps": _stateful_set,
    }
)
