"""What each node of a pool has, from the objects of its cluster. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from modelplane.inventory.slices import DevicePool, devices_by_node
from modelplane.model.inventory import NodeState
from modelplane.model.names import GPU_TAINT, LABEL_POOL, SYSTEM_POOL
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.resources import read_node

#: Effects of a node's taint that keep new pods away.
_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")
#: Taints that Kubernetes itself sets for what Ready and `spec.unschedulable` say.
_OF_KUBERNETES: Final = "node.kubernetes.io/"

#: A node: its pool and its name.
NodeKey = tuple[str, str]


def _labels(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(obj.get("metadata")).get("labels"))


def _takes_pods(node: Mapping[str, Any]) -> bool:
    cordoned = mapping(node.get("spec")).get("unschedulable") is True
    leaving = bool(mapping(node.get("metadata")).get("deletionTimestamp"))
    conditions = mappings(mapping(node.get("status")).get("conditions"))
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return ready and not (cordoned or leaving)


def _taints(node: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the taints that pods of engines do not tolerate by themselves."""
    found = set()
    for taint in mappings(mapping(node.get("spec")).get("taints")):
        key, effect = text(taint.get("key")), text(taint.get("effect"))
        if effect in _KEEPS_AWAY and key != GPU_TAINT and not key.startswith(_OF_KUBERNETES):
            found.add(f"{key}={text(taint.get('value'))}:{effect}")
    return tuple(sorted(found))


def _is_ours(claim: Mapping[str, Any], pods: frozenset[str]) -> bool:
    """Tell whether a claim is of one of Modelplane's pods, by their uids."""
    metadata, status = mapping(claim.get("metadata")), mapping(claim.get("status"))
    owners = [text(each.get("uid")) for each in mappings(metadata.get("ownerReferences"))]
    users = [text(each.get("uid")) for each in mappings(status.get("reservedFor"))]
    return not pods.isdisjoint(owners) and all(each in pods for each in users)


def _used_by_others(
    claims: Iterable[Mapping[str, Any]], pods: frozenset[str], places: Mapping[DevicePool, str]
) -> dict[str, str]:
    """Return for each node a claim of others on its devices; of several the first by name."""
    found: dict[str, str] = {}
    for claim in claims:
        if _is_ours(claim, pods):
            continue
        metadata = mapping(claim.get("metadata"))
        name = f"{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"
        devices = mapping(mapping(mapping(claim.get("status")).get("allocation")).get("devices"))
        for each in mappings(devices.get("results")):
            node = places.get((text(each.get("driver")), text(each.get("pool"))))
            if node and each.get("adminAccess") is not True:
                found[node] = min(name, found.get(node, name))
    return found


def read_nodes(
    nodes: Iterable[Mapping[str, Any]],
    slices: Iterable[Mapping[str, Any]],
    claims: Iterable[Mapping[str, Any]],
    pods: Iterable[Mapping[str, Any]],
) -> dict[NodeKey, NodeState]:
    """Return the state of each node that carries the label of a pool.

    `pods` are those of Modelplane's workloads; they must have been listed after `claims`, so that a claim of one of
    them is never taken for another's.
    """
    devices, places = devices_by_node(slices)
    ours = frozenset(text(mapping(pod.get("metadata")).get("uid")) for pod in pods) - {""}
    used = _used_by_others(claims, ours, places)
    found: dict[NodeKey, NodeState] = {}
    for node in nodes:
        pool, name = text(_labels(node).get(LABEL_POOL)), text(mapping(node.get("metadata")).get("name"))
        if not pool or pool == SYSTEM_POOL:
            continue
        allocatable = mapping(mapping(node.get("status")).get("allocatable"))
        found[pool, name] = NodeState(
            ready=_takes_pods(node),
            allocatable=read_node(allocatable),
            pods=_whole(allocatable.get("pods")),
            taints=_taints(node),
            used_by=used.get(name, ""),
            devices=devices.get(name, ()),
        )
    return found


def _whole(value: Any) -> int:
    written = str(value)
    return int(written) if written.isascii() and written.isdecimal() else 0
