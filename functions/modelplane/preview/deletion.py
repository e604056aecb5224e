"""What a deletion does: finalizers, Usages and references hold an object; owned objects go after (or before) it."""

from collections.abc import Iterator, Mapping

from modelplane.preview.kinds import Key, key_of, refer
from modelplane.preview.store import Store
from modelplane.preview.tree import Manifest, child, items, mapping

FOREGROUND = "foregroundDeletion"
COMPOSITE_LABEL = "crossplane.io/composite"
_USAGES = ("ClusterUsage.protection.crossplane.io", "Usage.protection.crossplane.io")
_OBJECTS = "Object.kubernetes.m.crossplane.io"


class Deletions:
    """Deletes objects of a store as the API server, its garbage collector, Crossplane and its providers would."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: Deletion was asked for: each goes as soon as nothing holds it.
        self._going: set[Key] = set()
        #: Lost their owner, but are in use: deleted as soon as their Usage goes.
        self._orphans: set[Key] = set()

    def delete(self, key: Key, *, foreground: bool = False) -> bool:
        """Ask for a deletion and carry out what it leads to; False when a Usage refuses it or there is no object.

        `foreground` keeps the object, being deleted, until the objects that it owns are gone.
        """
        accepted = self._mark(key, foreground=foreground)
        self.sweep()
        return accepted

    def sweep(self) -> None:
        """Carry out every deletion that nothing holds any more, and those which that leads to."""
        steps = 1
        while steps:
            steps = sum(self._finish(key) for key in sorted(self._going))
            steps += sum(self._mark(key, foreground=False) for key in sorted(self._orphans))

    def track(self, key: Key) -> None:
        """Take on an object that came with a deletion under way: it goes once its finalizers are removed."""
        self._going.add(key)

    def in_use(self, obj: Manifest) -> bool:
        """Tell whether a Usage protects an object from deletion."""
        return any(self._protects(usage, obj) for kind in _USAGES for usage in self._store.scan(kind))

    def _mark(self, key: Key, *, foreground: bool) -> bool:
        obj = self._store.peek(key)
        if obj is None:
            self._orphans.discard(key)
            return False
        if self.in_use(obj):
            return False
        metadata = dict(obj["metadata"])
        metadata.setdefault("deletionTimestamp", self._store.now)
        if foreground and FOREGROUND not in (metadata.get("finalizers") or ()):
            metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FOREGROUND]
        self._store.put({**obj, "metadata": metadata})
        self._going.add(key)
        self._orphans.discard(key)
        return True

    def _finish(self, key: Key) -> bool:
        """Take one step in an object's deletion; tell whether there was one to take."""
        obj = self._store.peek(key)
        if obj is None:
            self._going.discard(key)
            return False
        finalizers = list(obj["metadata"].get("finalizers") or ())
        if FOREGROUND in finalizers:
            dependents = [key_of(owned) for owned in self._owned(obj)]
            if dependents:
                return sum(self._mark(k, foreground=True) for k in dependents if k not in self._going) > 0
            finalizers.remove(FOREGROUND)
            self._store.put({**obj, "metadata": {**obj["metadata"], "finalizers": finalizers}})
        if finalizers or self._held(obj):
            return False
        self._store.remove(key)
        self._going.discard(key)
        for owned in tuple(self._owned(obj)):
            if self._abandoned(owned):
                self._orphans.add(key_of(owned))
            else:
                self._disown(owned, obj)
        return True

    def _disown(self, owned: Manifest, gone: Manifest) -> None:
        """Take an owner that is gone off an object that has others left, as the garbage collector does."""
        refs = items(owned, "metadata", "ownerReferences")
        left = [ref for ref in refs if ref.get("uid") != gone["metadata"]["uid"]]
        self._store.put({**owned, "metadata": {**owned["metadata"], "ownerReferences": left}})

    def _owned(self, owner: Manifest) -> Iterator[Manifest]:
        uid = owner["metadata"]["uid"]
        for obj in tuple(self._store.everything()):
            if any(ref.get("uid") == uid for ref in items(obj, "metadata", "ownerReferences")):
                yield obj

    def _abandoned(self, obj: Manifest) -> bool:
        """Tell whether no owner of an object is left."""
        return not any(self._owner_exists(obj, ref) for ref in items(obj, "metadata", "ownerReferences"))

    def _owner_exists(self, obj: Manifest, ref: Manifest) -> bool:
        places = (refer(ref, obj["metadata"].get("namespace")), refer(ref, None))
        return any(mapping(self._store.peek(place), "metadata").get("uid") == ref.get("uid") for place in places)

    def _held(self, obj: Manifest) -> bool:
        """Tell whether a provider or Crossplane keeps a finalizer on an object that is being deleted."""
        key = key_of(obj)
        if key.kind in _USAGES and COMPOSITE_LABEL in mapping(obj, "metadata", "labels"):
            # A composed Usage waits for its user, or it would not order anything.
            return self._user_exists(obj)
        return any(
            _refers(reference, key)
            for referrer in self._store.scan(_OBJECTS)
            for reference in items(referrer, "spec", "references")
        )

    def _user_exists(self, usage: Manifest) -> bool:
        by = mapping(usage, "spec", "by")
        return bool(by) and any(self._selected(usage, by))

    def _protects(self, usage: Manifest, obj: Manifest) -> bool:
        return any(used is obj for used in self._selected(usage, mapping(usage, "spec", "of")))

    def _selected(self, usage: Manifest, end: Manifest) -> Iterator[Manifest]:
        """Yield the object that one end of a Usage names or selects."""
        ref, selector = mapping(end, "resourceRef"), mapping(end, "resourceSelector")
        namespace = ref.get("namespace") or selector.get("namespace") or usage["metadata"].get("namespace") or ""
        if ref:
            named = self._store.peek(refer({**end, **ref}, namespace))
            if named is not None:
                yield named
            return
        wanted = mapping(selector, "matchLabels").items()
        for obj in self._store.scan(refer(end, None).kind):
            alike = controller_uid(obj) == controller_uid(usage) or not selector.get("matchControllerRef")
            here = (obj["metadata"].get("namespace") or "") == namespace
            if here and alike and wanted <= mapping(obj, "metadata", "labels").items():
                yield obj
                return


def controller_uid(obj: Manifest) -> str | None:
    """Return the uid of the object's controller, None when nothing controls it."""
    refs = items(obj, "metadata", "ownerReferences")
    return next((str(ref.get("uid")) for ref in refs if ref.get("controller")), None)


def _refers(reference: Manifest, key: Key) -> bool:
    """Tell whether provider-kubernetes holds `key` for an Object that depends on it or is patched from it."""
    target = child(reference, "dependsOn") or child(reference, "patchesFrom")
    if not isinstance(target, Mapping):
        return False
    return key == refer(target, target.get("namespace"))
