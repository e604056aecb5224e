"""Everything that one replica became: each object on its cluster, how it stands, and the rule by which it is there."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console

from modelplane.compose_replica.why import why
from modelplane.model.names import GROUP
from modelplane.preview.composed import RESOURCE_NAME
from modelplane.preview.control_plane import ControlPlane
from modelplane.preview.tree import Manifest, child, items, mapping

_REPLICA = f"ModelReplica.{GROUP}"
#: Where an object is that puts nothing on a cluster.
_HERE = "here"


@dataclass(frozen=True, slots=True)
class Traced:
    """An object that a replica became: what it is called, where it is, whether it is in order, and why it is there."""

    called: str
    where: str
    ready: bool
    why: str


def trace(control: ControlPlane, namespace: str, name: str) -> list[Traced] | None:
    """Return what a ModelReplica became, sorted by what it is called; None when there is no such replica."""
    replica = control.get(_REPLICA, namespace, name)
    if replica is None:
        return None
    return sorted(_traced(control, replica), key=lambda each: (each.where, each.called))


def _traced(control: ControlPlane, replica: Manifest) -> Iterator[Traced]:
    for ref in items(replica, "spec", "crossplane", "resourceRefs"):
        obj = control.get(str(ref["kind"]), replica["metadata"].get("namespace"), str(ref["name"]))
        if obj is not None:
            yield _row(obj)


def _row(obj: Manifest) -> Traced:
    spec = mapping(obj, "spec")
    there = mapping(spec, "forProvider", "manifest") or mapping(spec, "observeObjects") or obj
    metadata = mapping(there, "metadata")
    named = f" {metadata['name']}" if "name" in metadata else "s"
    cluster = str(child(spec, "providerConfigRef", "name") or _HERE)
    namespace = metadata.get("namespace") or there.get("namespace")
    ready = [found.get("status") for found in items(obj, "status", "conditions") if found.get("type") == "Ready"]
    return Traced(
        called=f"{there['kind']}{named}",
        where=f"{cluster}/{namespace}" if namespace else cluster,
        ready=ready == ["True"] or (there is obj and not ready),
        why=why(str(child(obj, "metadata", "annotations", RESOURCE_NAME) or "")),
    )


def show_trace(console: Console, control: ControlPlane, namespace: str, name: str, traced: list[Traced]) -> None:
    """Print the replica's own conditions, then each object with its rule beneath it."""
    replica = control.get(_REPLICA, namespace, name) or {}
    console.print(f"{namespace}/{name} on {child(replica, 'spec', 'clusterName')}", style="bold", markup=False)
    for found in items(replica, "status", "conditions"):
        if found.get("message"):
            console.print(f"  {found.get('type')} {found.get('status')}: {found['message']}", markup=False)
    for row in traced:
        state = "" if row.ready else "  not ready"
        console.print(f"  {row.where}  {row.called}{state}", markup=False, soft_wrap=True)
        console.print(f"    {row.why}", style="dim", markup=False, soft_wrap=True)
