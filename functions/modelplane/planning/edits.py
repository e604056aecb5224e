"""The edits of a plan, and how they are made on a control plane."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from modelplane.model.names import GROUP
from modelplane.preview import ControlPlane
from modelplane.reading.deployments import DEPLOYMENT
from modelplane.reading.tree import Manifest, Tree, items, mapping

CLUSTER: Final = f"InferenceCluster.{GROUP}"
#: The taint that `drain` tries and applies, unless the cluster has a NoExecute taint already.
DRAIN_TAINT: Final[Manifest] = {"key": "maintenance", "effect": "NoExecute"}


class UnknownObjectError(ValueError):
    """An edit of an object that the snapshot does not have, or that a Usage protects. The text says which."""


@dataclass(frozen=True, slots=True)
class Apply:
    """`kubectl apply` of a manifest."""

    manifest: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """`kubectl delete` of an object; `kind` is `Kind` or `Kind.group`, `namespace` "" for cluster scope."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Scale:
    """`kubectl scale` of a ModelDeployment."""

    namespace: str
    name: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Drain:
    """A NoExecute taint on an InferenceCluster."""

    cluster: str


Edit = Apply | Delete | Scale | Drain


def make(control: ControlPlane, edits: Iterable[Edit]) -> None:
    """Make edits; raises InvalidObject where a server would refuse one, UnknownObjectError where it has no object."""
    for edit in edits:
        match edit:
            case Apply(manifest):
                control.apply(manifest)
            case Delete():
                _delete(control, edit)
            case Scale(namespace, name, replicas):
                found = _get(control, DEPLOYMENT, namespace, name)
                control.apply({**found, "spec": {**mapping(found, "spec"), "replicas": replicas}})
            case Drain(name):
                control.apply(tainted(_get(control, CLUSTER, "", name)))


def tainted(cluster: Tree) -> Tree:
    """Return an InferenceCluster with a NoExecute taint, the same one if it has one."""
    taints = [*items(cluster, "spec", "taints")]
    if any(taint.get("effect") == "NoExecute" for taint in taints):
        return cluster
    return {**cluster, "spec": {**mapping(cluster, "spec"), "taints": [*taints, DRAIN_TAINT]}}


def _get(control: ControlPlane, kind: str, namespace: str, name: str) -> Tree:
    found = control.get(kind, namespace, name)
    if found is None:
        raise UnknownObjectError(f"there is no {_word(kind, namespace, name)}")
    # As an edit by kubectl, it carries no status.
    return {field: value for field, value in found.items() if field != "status"}


def _delete(control: ControlPlane, edit: Delete) -> None:
    _get(control, edit.kind, edit.namespace, edit.name)
    if not control.delete(edit.kind, edit.namespace, edit.name):
        which = _word(edit.kind, edit.namespace, edit.name)
        raise UnknownObjectError(
            f"{which} cannot be deleted: a Usage protects it (kubectl get usages,clusterusages -A)"
        )


def _word(kind: str, namespace: str, name: str) -> str:
    return f"{kind.partition('.')[0]} {namespace}/{name}" if namespace else f"{kind.partition('.')[0]} {name}"
