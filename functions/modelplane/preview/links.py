"""Which objects name which others, indexed as objects change: owners, Usages, references of provider-kubernetes.

A deletion looks up what an object owns and what holds it here, instead of searching all objects.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from modelplane.reading.kinds import Key, refer
from modelplane.reading.tree import Manifest, child, items, mapping

USAGES = frozenset({"ClusterUsage.protection.crossplane.io", "Usage.protection.crossplane.io"})
_OBJECTS = "Object.kubernetes.m.crossplane.io"


class Relation(Enum):
    """The role of an object for the object that names it."""

    #: An owner, by its uid.
    OWNER = auto()
    #: Protected by a Usage (`of`): by its key, or by its kind where the Usage has a selector.
    PROTECTED = auto()
    #: The user in a Usage (`by`), in the same two ways.
    USER = auto()
    #: Needed by a provider-kubernetes Object that depends on it or is patched from it, by its key.
    NEEDED = auto()


class Link(NamedTuple):
    """`target` is the key of the object that is named, its uid (OWNER), or its kind (`Kind.group`, of a selector)."""

    relation: Relation
    target: Key | str


class Links:
    """The links of all objects, by what they name."""

    def __init__(self) -> None:
        self._links: dict[Key, frozenset[Link]] = {}
        self._sources: dict[Link, set[Key]] = {}
        self._changed: set[Key | Link] = set()

    def fork(self) -> "Links":
        """Return a copy that changes by itself."""
        other = Links()
        other._links, other._changed = dict(self._links), set(self._changed)
        other._sources = {link: set(keys) for link, keys in self._sources.items()}
        return other

    def update(self, key: Key, obj: Manifest | None) -> None:
        """Index the links of an object as it is now, None when it is removed."""
        before = self._links.get(key, frozenset())
        after = frozenset() if obj is None else frozenset(_links_of(key, obj))
        self._changed |= {key, *before, *after}
        if before == after:
            return
        for link in before - after:
            self._sources[link].discard(key)
            if not self._sources[link]:
                del self._sources[link]
        for link in after - before:
            self._sources.setdefault(link, set()).add(key)
        if after:
            self._links[key] = after
        else:
            del self._links[key]

    def sources(self, relation: Relation, target: Key | str) -> list[Key]:
        """Return the objects that name a target as this, sorted."""
        return sorted(self._sources.get(Link(relation, target), ()))

    def take_changes(self) -> set[Key | Link]:
        """Return the keys that were written or removed since the last call, and the links that they had or have."""
        changed, self._changed = self._changed, set()
        return changed


def _links_of(key: Key, obj: Manifest) -> Iterator[Link]:
    for owner in items(obj, "metadata", "ownerReferences"):
        yield Link(Relation.OWNER, str(owner.get("uid")))
    if key.kind == _OBJECTS:
        for reference in items(obj, "spec", "references"):
            target = mapping(reference, "dependsOn") or mapping(reference, "patchesFrom")
            if target:
                yield Link(Relation.NEEDED, refer(target, str(target.get("namespace") or "")))
    elif key.kind in USAGES:
        for relation, end in ((Relation.PROTECTED, "of"), (Relation.USER, "by")):
            if child(obj, "spec", end):
                yield Link(relation, _end_of(obj, mapping(obj, "spec", end)))


def _end_of(usage: Manifest, end: Manifest) -> Key | str:
    """Return what one end of a Usage names: an object, or the kind that its selector chooses from."""
    ref = mapping(end, "resourceRef")
    if ref:
        return refer({**end, **ref}, usage_namespace(usage, end))
    return refer(end, None).kind


def usage_namespace(usage: Manifest, end: Manifest) -> str:
    """Return the namespace of what one end of a Usage names or selects, "" for cluster scope."""
    named = child(end, "resourceRef", "namespace") or child(end, "resourceSelector", "namespace")
    return str(named or usage["metadata"].get("namespace") or "")
