"""How the requirements of a step are read from a store, as Crossplane reads them from an API server.

Exception
└── FetchError   a requirement of a kind that does not exist
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from modelplane.model.names import LABEL_CLUSTER
from modelplane.reading.kinds import Key, qualify
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest
from modelplane.step import Object, Requirement, SchemaRequirement

#: The namespaces that every cluster has.
_NAMESPACES: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})


class FetchError(Exception):
    """A requirement could not be read: its kind does not exist."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """How a pipeline reads the control cluster. `resources` raises FetchError; a `schema` None is an unknown kind."""

    resources: Callable[[Requirement], tuple[Object, ...]]
    schema: Callable[[SchemaRequirement], Manifest | None]


def lookup(store: ManifestStore) -> Lookup:
    """Return how a pipeline reads a store."""
    return Lookup(
        resources=lambda requirement: fetch(store, requirement),
        schema=lambda requirement: store.schema(requirement.api_version, requirement.kind),
    )


def fetch(store: ManifestStore, requirement: Requirement) -> tuple[Object, ...]:
    """Return what a requirement finds, sorted by namespace and name; raises FetchError as an API server would fail."""
    return tuple(as_object(store, body) for body in select(store, requirement))


def select(store: ManifestStore, requirement: Requirement) -> list[Manifest]:
    """Return the stored objects that a requirement asks for; raises FetchError when their kind does not exist.

    To the ModelReplicas of a cluster belong the stand-ins for those that were not read.
    """
    api_version, kind, namespace = requirement.api_version, requirement.kind, requirement.namespace or ""
    how = "list required resources" if requirement.match_name is None else "get required resource by name"
    namespaced = store.is_namespaced(api_version, kind)
    if namespaced is None:
        raise FetchError(f'cannot {how}: no matches for kind "{kind}" in version "{api_version}"')
    if not namespaced:
        # Crossplane reads through a cache, which does not look at the namespace of what has none.
        namespace = ""
    if requirement.match_name is not None:
        key = Key(qualify(api_version, kind), namespace, requirement.match_name)
        found = store.peek(key) or _namespace(store, key)
        if found is None:
            store.sought.add(key)
        return [] if found is None else [found]
    listed = store.scan(qualify(api_version, kind), requirement.match_labels)
    selected = [obj for obj in listed if namespace in {"", obj["metadata"].get("namespace") or ""}]
    if (kind, namespace) == ("ModelReplica", "") and requirement.match_labels.keys() == {LABEL_CLUSTER}:
        unread = store.unread.get(requirement.match_labels[LABEL_CLUSTER])
        selected += unread.stand_ins if unread else ()
    return selected


def _namespace(store: ManifestStore, key: Key) -> Manifest | None:
    """Return a namespace that certainly exists though no manifest says so: objects are in it, or every cluster has it.

    Its labels are not known.
    """
    if key.kind != "Namespace" or not (key.name in _NAMESPACES or store.has_namespace(key.name)):
        return None
    metadata = {"name": key.name, "uid": f"assumed-{key.name}", "resourceVersion": "0"}
    return {"apiVersion": "v1", "kind": key.kind, "metadata": metadata}
