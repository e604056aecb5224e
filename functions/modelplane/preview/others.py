"""The objects of a preview's input that are not ModelDeployments: the state of each, and why."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from modelplane.model.names import CONTROL_CLUSTER, GROUP, SYSTEM_NAMESPACE
from modelplane.reading.definitions import xrds
from modelplane.reading.deployments import DEPLOYMENT
from modelplane.reading.kinds import Key, is_of_cloud, qualify, refer
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, Tree, items
from modelplane.stack import PARTS, Origin, Part

_CLASS: Final = f"InferenceClass.{GROUP}"
_CLUSTER: Final = f"InferenceCluster.{GROUP}"
_GATEWAY: Final = f"InferenceGateway.{GROUP}"
_STACK: Final = f"ServingStack.{GROUP}"
_MADE: Final = f"ManagedCluster.{GROUP}"
#: Kinds of others that steps read, or that the control plane composes.
_READ: Final = frozenset({"Secret", "ConfigMap", "Namespace"})
_OURS_OF: Final = ("kubernetes.m.crossplane.io", "helm.m.crossplane.io", "protection.crossplane.io")
#: Conditions that only say that another one is not True.
_SUMMARIES: Final = frozenset({"Ready", "Synced"})


class State(StrEnum):
    """The state of an object. `UNUSED`: nothing refers to it. `NOT_READ`: nothing reads objects of its kind."""

    READY = "Ready"
    NOT_READY = "NotReady"
    UNUSED = "Unused"
    NOT_READ = "NotRead"


def find_others(reader: Reader, given: Iterable[Key]) -> list[Tree]:
    """Return kind, namespace, name, state, reason and message of the given objects that are not ModelDeployments.

    ModelReplicas and ModelEndpoints that a deployment composes are left out, unless that deployment is absent. Sorted
    by kind and name.
    """
    found = []
    for key in sorted(set(given)):
        obj = reader.get(key.kind, key.namespace, key.name)
        if obj is None or key.kind == DEPLOYMENT or _is_composed(reader, obj) or _is_read(key):
            continue
        state, reason, message = _state_of(reader, key, obj)
        row = {"kind": obj["kind"], "namespace": key.namespace, "name": key.name}
        found.append({**row, "state": str(state), "reason": reason, "message": message})
    return found


def is_refused(row: Manifest) -> bool:
    """Tell whether an object's state makes the exit code 1."""
    return bool(row["state"] == State.NOT_READY)


def _is_composed(reader: Reader, obj: Manifest) -> bool:
    """Tell whether an object is composed by one that exists."""
    owners = (each for each in items(obj, "metadata", "ownerReferences") if each.get("controller") is True)
    keys = (refer(owner, namespace) for owner in owners for namespace in (obj["metadata"].get("namespace"), None))
    return any(reader.get(*key) is not None for key in keys)


def _is_read(key: Key) -> bool:
    return key.kind in _READ or key.kind.partition(".")[2] in _OURS_OF or is_of_cloud(key.kind)


def _state_of(reader: Reader, key: Key, obj: Manifest) -> tuple[State, str, str]:
    if key.kind.partition(".")[2] != GROUP or obj["kind"] not in xrds():
        return State.NOT_READ, "UnknownKind", f"nothing reads {qualify(obj['apiVersion'], obj['kind'])}"
    failed, stack = _failed(obj), _stack_of(reader, key)
    if failed is not None:
        message = "; ".join(filter(None, (str(failed.get("message", "")), stack)))
        return State.NOT_READY, str(failed.get("reason", "")), message
    if key.kind == _CLASS and not _is_used(reader, key.name):
        return State.UNUSED, "NoPool", "no pool of an InferenceCluster names it"
    ready = _conditions(obj).get("Ready", {}).get("status") == "True" or key.kind == _CLASS
    if ready and stack:
        return State.READY, "ServingStack", stack
    return (State.READY, "", "") if ready else (State.NOT_READY, "NotReconciled", "it was not reconciled")


#: What is said of parts of a cluster's serving stack, by a field of their rows and its value.
_OF_PARTS: Final = (
    ("Modelplane installs", "origin", "Modelplane"),
    ("there already, by spec.stack", "state", "Present"),
    ("missing", "state", "Missing"),
)


def _stack_of(reader: Reader, key: Key) -> str:
    """Return which parts of its stack a cluster is given, keeps or lacks, and what stays, "" if it asks for none.

    Of a cluster that Modelplane makes nothing stays: it is deleted as a whole.
    """
    names = {_CLUSTER: key.name, _GATEWAY: CONTROL_CLUSTER}
    found = reader.get(_STACK, SYSTEM_NAMESPACE, names[key.kind]) if key.kind in names else None
    rows = list(items(found, "status", "parts")) if found else []
    said = []
    for words, field, value in _OF_PARTS:
        if named := [PARTS[Part(str(row["name"]))].title for row in rows if row.get(field) == value]:
            said.append(f"{words}: {', '.join(named)}")
    ours = [PARTS[Part(str(row["name"]))] for row in rows if row.get("origin") == Origin.MODELPLANE]
    made = key.kind == _CLUSTER and reader.get(_MADE, SYSTEM_NAMESPACE, key.name) is not None
    if ours and not made:
        releases = ", ".join(chart.release for part in ours for chart in part.charts)
        said.append(
            f"these releases stay on it, with their CRDs, when {key.kind.partition('.')[0]} {key.name} is "
            f"deleted: {releases}"
        )
    return "; ".join(said)


def _conditions(obj: Manifest) -> Mapping[str, Manifest]:
    return {str(each.get("type")): each for each in items(obj, "status", "conditions")}


def _failed(obj: Manifest) -> Manifest | None:
    """Return the condition that says best why an object is not Ready, None where it is."""
    found = _conditions(obj)
    accepted = found.get("Accepted", {}).get("status") == "False"
    synced = found.get("Synced", {}).get("status") == "False"
    if not accepted and not synced and found.get("Ready", {}).get("status") != "False":
        return None
    if synced:
        return found["Synced"]
    own = [each for kind, each in found.items() if kind not in _SUMMARIES and each.get("status") != "True"]
    return next((each for each in own if each.get("message")), next(iter(own), found.get("Ready")))


def _is_used(reader: Reader, name: str) -> bool:
    clusters = reader.list(_CLUSTER)
    return any(pool.get("className") == name for obj in clusters for pool in items(obj, "spec", "nodePools"))
