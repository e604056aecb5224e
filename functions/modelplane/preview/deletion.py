"""Deletion: what holds an object (finalizers, Usages, references), and when its owned objects are deleted."""

from collections.abc import Callable, Iterator

from modelplane.preview.links import USAGES, Link, Relation, usage_namespace
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, refer
from modelplane.reading.tree import Manifest, items, mapping

FOREGROUND = "foregroundDeletion"
COMPOSITE_LABEL = "crossplane.io/composite"
#: Returns the finalizers that hold an object.
Finalizers = Callable[[Manifest], list[str]]


def finalizers_of(obj: Manifest) -> list[str]:
    """Return the finalizers that an object has."""
    return list(obj["metadata"].get("finalizers") or ())


class Deletions:
    """Deletes objects of a store as the API server, its garbage collector, Crossplane and its providers would.

    A held object is checked again only when something changes that may release it, so the work of a deletion grows with
    the number of deleted objects, not with the size of the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        #: Objects with a deletionTimestamp: each is removed as soon as nothing holds it.
        self._deleting: set[Key] = set()
        self._deleting_by_uid: dict[str, Key] = {}
        #: Objects whose owner is gone but that a Usage protects: deleted as soon as none does.
        self._protected: set[Key] = set()
        #: Objects whose deletion began since the last sweep.
        self._begun: set[Key] = set()
        self._finalizers: Finalizers = finalizers_of

    def fork(self, store: Store) -> "Deletions":
        """Return the deletions of a fork of the store."""
        other = Deletions(store)
        other._deleting, other._deleting_by_uid = set(self._deleting), dict(self._deleting_by_uid)
        other._protected, other._begun = set(self._protected), set(self._begun)
        other._finalizers = self._finalizers
        return other

    def hold_by(self, finalizers: Finalizers) -> None:
        """Let other finalizers hold objects than those that they have; what none holds any more goes at once."""
        self._finalizers = finalizers
        self._begun |= self._deleting
        self.sweep()

    def delete(self, key: Key, *, foreground: bool = False) -> bool:
        """Delete an object and what depends on it; False when a Usage refuses it or there is no object.

        `foreground` keeps the object, with a deletionTimestamp, until the objects that it owns are gone.
        """
        accepted = self._mark(key, foreground=foreground)
        self.sweep()
        return accepted

    def sweep(self) -> None:
        """Complete every deletion that nothing holds any more, and the deletions that follow."""
        while due := self._take_due():
            for key in sorted(due):
                if key in self._deleting:
                    self._finish(key)
                elif key in self._protected:
                    self._collect(key)

    def track(self, key: Key) -> None:
        """Track an object that already has a deletionTimestamp: it is removed once its finalizers are."""
        obj = self._store.peek(key)
        if obj is not None:
            self._deleting.add(key)
            self._deleting_by_uid[obj["metadata"]["uid"]] = key

    def _take_due(self) -> set[Key]:
        """Return the objects whose deletion began or may go on since the last call."""
        due, self._begun = self._begun, set()
        changes = self._store.links.take_changes()
        if self._deleting or self._protected:
            for change in changes:
                due |= self._released_by(change)
        return due & (self._deleting | self._protected)

    def _released_by(self, change: Key | Link) -> set[Key]:
        """Return the objects that a change of an object (its key) or of a link may release."""
        match change:
            case Key():
                selected = self._store.links.sources(Relation.PROTECTED, change.kind)
                return {change, *self._usages(Relation.USER, change), *(self._protected if selected else ())}
            case Link(Relation.OWNER, uid):
                owner = self._deleting_by_uid.get(str(uid))
                return {owner} if owner else set()
            case Link(Relation.NEEDED | Relation.PROTECTED, Key() as target):
                return {target}
            case Link(Relation.PROTECTED, _):
                return self._protected
            case _:
                return set()

    def _mark(self, key: Key, *, foreground: bool) -> bool:
        """Begin the deletion of an object; False when a Usage refuses it or there is no object."""
        obj = self._store.peek(key)
        if obj is None or self._is_protected(key, obj):
            return False
        metadata = dict(obj["metadata"])
        metadata.setdefault("deletionTimestamp", self._store.now)
        if foreground and FOREGROUND not in (metadata.get("finalizers") or ()):
            metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FOREGROUND]
        self._store.put({**obj, "metadata": metadata})
        self.track(key)
        self._begun.add(key)
        return True

    def _finish(self, key: Key) -> None:
        """Remove an object that is being deleted, unless something holds it, and collect what it owned."""
        obj = self._store.peek(key)
        if obj is None:
            self._deleting.discard(key)
            return
        finalizers = finalizers_of(obj)
        if FOREGROUND in finalizers:
            if self._collect_first(obj):
                return
            finalizers.remove(FOREGROUND)
            obj = {**obj, "metadata": {**obj["metadata"], "finalizers": finalizers}}
            self._store.put(obj)
        if self._finalizers(obj) or self._is_held(key, obj):
            return
        self._store.remove(key)
        self._deleting.discard(key)
        self._deleting_by_uid.pop(obj["metadata"]["uid"], None)
        for owned in self._owned(obj):
            self._collect(owned)

    def _collect_first(self, owner: Manifest) -> bool:
        """Delete the owned objects before the owner itself; tell whether some of them still exist."""
        dependents = self._owned(owner)
        for key in dependents:
            if key not in self._deleting:
                self._collect(key)
        return bool(dependents)

    def _collect(self, key: Key) -> None:
        """Act as the garbage collector: delete an object without owners, else drop its references to absent owners.

        An owner in foreground deletion counts as absent, and the object is then deleted in the foreground too.
        """
        self._protected.discard(key)
        obj = self._store.peek(key)
        refs = list(items(obj, "metadata", "ownerReferences"))
        if obj is None or not refs:
            return
        owners = [self._owner(obj, ref) for ref in refs]
        staying = [ref for ref, owner in zip(refs, owners, strict=True) if owner and not _waits(owner)]
        if staying:
            self._store.put({**obj, "metadata": {**obj["metadata"], "ownerReferences": staying}})
        elif not self._mark(key, foreground=any(owners)):
            self._protected.add(key)

    def _owned(self, owner: Manifest) -> list[Key]:
        return self._store.links.sources(Relation.OWNER, owner["metadata"]["uid"])

    def _owner(self, obj: Manifest, ref: Manifest) -> Manifest | None:
        """Return the owner that a reference names, None if no object has its uid."""
        places = (refer(ref, obj["metadata"].get("namespace")), refer(ref, None))
        found = map(self._store.peek, places)
        return next((owner for owner in found if owner and owner["metadata"]["uid"] == ref.get("uid")), None)

    def _is_protected(self, key: Key, obj: Manifest) -> bool:
        """Tell whether a Usage refuses the deletion of an object."""
        usages = map(self._store.peek, self._usages(Relation.PROTECTED, key))
        return any(self._selected(usage, "of") is obj for usage in usages if usage)

    def _is_held(self, key: Key, obj: Manifest) -> bool:
        """Tell whether a provider or Crossplane keeps a finalizer on an object that is being deleted."""
        if key.kind in USAGES and COMPOSITE_LABEL in mapping(obj, "metadata", "labels"):
            # A composed Usage waits for its user, or it would not order anything.
            return self._selected(obj, "by") is not None
        return bool(self._store.links.sources(Relation.NEEDED, key))

    def _usages(self, relation: Relation, key: Key) -> Iterator[Key]:
        """Yield the Usages that name an object in this relation, or that may select it."""
        yield from self._store.links.sources(relation, key)
        yield from self._store.links.sources(relation, key.kind)

    def _selected(self, usage: Manifest, field: str) -> Manifest | None:
        """Return the object that one end of a Usage (`of` or `by`) names or selects, None when there is none."""
        end = mapping(usage, "spec", field)
        ref, selector = mapping(end, "resourceRef"), mapping(end, "resourceSelector")
        namespace = usage_namespace(usage, end)
        if ref or not end:
            return self._store.peek(refer({**end, **ref}, namespace))
        for obj in self._store.scan(refer(end, None).kind, mapping(selector, "matchLabels")):
            alike = controller_uid(obj) == controller_uid(usage) or not selector.get("matchControllerRef")
            if alike and (obj["metadata"].get("namespace") or "") == namespace:
                return obj
        return None


def controller_uid(obj: Manifest) -> str | None:
    """Return the uid of the object's controller, None when nothing controls it."""
    refs = items(obj, "metadata", "ownerReferences")
    return next((str(ref.get("uid")) for ref in refs if ref.get("controller")), None)


def _waits(owner: Manifest) -> bool:
    """Tell whether an owner is in foreground deletion."""
    metadata = owner["metadata"]
    return bool(metadata.get("deletionTimestamp")) and FOREGROUND in (metadata.get("finalizers") or ())
