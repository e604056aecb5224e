"""All objects of one replica: each object on its cluster, its state, and the rule why it is composed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console

from modelplane.compose_replica.why import why
from modelplane.model.names import GROUP, LABEL_DEPLOYMENT
from modelplane.observed.fields import RESOURCE_NAME
from modelplane.reading.deployments import DEPLOYMENT, condition
from modelplane.reading.kinds import qualify
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, child, items, mapping
from modelplane.scheduling.words import count

REPLICA = f"ModelReplica.{GROUP}"
#: The place of an object that has nothing on a cluster.
_HERE = "here"


@dataclass(frozen=True, slots=True)
class TracedObject:
    """An object of a replica: `name` with its kind, `place` (cluster and namespace), and the `rule` why it exists."""

    name: str
    place: str
    ready: bool
    rule: str


def trace(reader: Reader, replica: Manifest) -> list[TracedObject]:
    """Return the objects of a ModelReplica, sorted by place and name."""
    return sorted(_traced(reader, replica), key=lambda each: (each.place, each.name))


def find_choice(reader: Reader, replica: Manifest) -> str:
    """Return why a ModelReplica was placed where it is, by its deployment's status; "" where that does not say it."""
    metadata = replica["metadata"]
    deployment = mapping(metadata, "labels").get(LABEL_DEPLOYMENT)
    found = reader.get(DEPLOYMENT, metadata.get("namespace"), str(deployment)) if deployment else None
    placements = items(found, "status", "placements") if found else ()
    return next((str(each.get("why", "")) for each in placements if each.get("name") == metadata["name"]), "")


def _traced(reader: Reader, replica: Manifest) -> Iterator[TracedObject]:
    for ref in items(replica, "spec", "crossplane", "resourceRefs"):
        kind = qualify(str(ref["apiVersion"]), str(ref["kind"]))
        obj = reader.get(kind, replica["metadata"].get("namespace"), str(ref["name"]))
        if obj is not None:
            yield trace_object(obj)


def trace_object(obj: Manifest) -> TracedObject:
    """Return an object of a replica, or the one on a cluster that it stands for."""
    spec = mapping(obj, "spec")
    there = mapping(spec, "forProvider", "manifest") or mapping(spec, "observeObjects") or obj
    metadata = mapping(there, "metadata")
    named = f" {metadata['name']}" if "name" in metadata else "s"
    cluster = str(child(spec, "providerConfigRef", "name") or _HERE)
    namespace = metadata.get("namespace") or there.get("namespace")
    ready = condition(obj, "Ready").get("status")
    return TracedObject(
        name=f"{there['kind']}{named}",
        place=f"{cluster}/{namespace}" if namespace else cluster,
        ready=ready == "True" or (there is obj and ready is None),
        rule=why(str(child(obj, "metadata", "annotations", RESOURCE_NAME) or "")),
    )


def show_trace(console: Console, replica: Manifest, traced: Sequence[TracedObject], choice: str = "") -> None:
    """Print why a replica is placed where it is, its own conditions, then each object with its rule beneath it."""
    metadata = replica["metadata"]
    console.print(
        f"{metadata['namespace']}/{metadata['name']} on {child(replica, 'spec', 'clusterName')}",
        style="bold",
        markup=False,
    )
    if choice:
        console.print(f"  placed there: {choice}", markup=False, soft_wrap=True)
    for found in items(replica, "status", "conditions"):
        if found.get("message"):
            console.print(f"  {found.get('type')} {found.get('status')}: {found['message']}", markup=False)
    missing = sum(1 for _ in items(replica, "spec", "crossplane", "resourceRefs")) - len(traced)
    if missing > 0:
        console.print(f"  not in the input: {count(missing, 'composed object')}", markup=False)
    for row in traced:
        state = "" if row.ready else "  not ready"
        console.print(f"  {row.place}  {row.name}{state}", markup=False, soft_wrap=True)
        console.print(f"    {row.rule}", style="dim", markup=False, soft_wrap=True)
