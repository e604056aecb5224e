"""Brings composed resources to the state that a pipeline desires: names, collects garbage, records, applies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modelplane.preview.admission import InvalidObject
from modelplane.preview.application import Applications, Rendered
from modelplane.preview.composed import CompositionError, references
from modelplane.preview.deletion import COMPOSITE_LABEL, Deletions
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.tree import Manifest, mapping
from modelplane.step import Desired

#: How admission words a field that a schema does not declare.
_UNDECLARED = "unknown field"


@dataclass(frozen=True, slots=True)
class Composed:
    """The result of composing: the objects desired and deleted, the names not ready or refused as invalid."""

    desired: tuple[Key, ...]
    deleted: tuple[Key, ...]
    unready: tuple[str, ...]
    unsynced: tuple[str, ...]
    warnings: tuple[str, ...]


class Composer:
    """Composes resources in a store."""

    def __init__(self, store: Store, deletions: Deletions) -> None:
        self._store = store
        self._deletions = deletions
        self._applications = Applications(store)

    def fork(self, store: Store, deletions: Deletions) -> "Composer":
        """Return the composer of a fork of the store."""
        other = Composer(store, deletions)
        other._applications = self._applications.fork(store)
        return other

    def compose(
        self, composite: Manifest, observed: Mapping[str, Manifest], desired: Mapping[str, Desired]
    ) -> Composed:
        """Bring the composed resources to the desired state; raises CompositionError if Crossplane fails the pass."""
        rendered = []
        warnings: list[str] = []
        for name in sorted(desired):
            made = self._applications.render(composite, name, desired[name], observed.get(name))
            self._check_scope(composite, made)
            rendered.append(made)
        deleted = self._collect(composite, observed, desired)
        self._record(composite, rendered)
        unsynced = []
        for made in rendered:
            try:
                self._applications.apply(composite, made)
            except InvalidObject as error:
                refused = f'cannot apply composed resource "{made.name}": {error}'
                if error.why.startswith(_UNDECLARED):
                    # Server-side apply fails as a whole on a field that the schema does not know.
                    raise CompositionError(refused) from error
                unsynced.append(made.name)
                warnings.append(refused)
        return Composed(
            desired=tuple(key_of(made.intent) for made in rendered),
            deleted=deleted,
            unready=tuple(name for name in sorted(desired) if not desired[name].ready),
            unsynced=tuple(unsynced),
            warnings=tuple(warnings),
        )

    def _check_scope(self, composite: Manifest, made: Rendered) -> None:
        """Refuse kinds that do not exist, and cluster-scoped ones of a namespaced composite."""
        if made.settled:
            return
        api_version, kind = made.intent["apiVersion"], made.intent["kind"]
        which = f'composed resource "{made.name}" (a {kind} named {made.intent["metadata"]["name"]})'
        namespaced = self._store.is_namespaced(api_version, kind)
        if namespaced is None:
            raise CompositionError(f'cannot apply {which}: no matches for kind "{kind}" in version "{api_version}"')
        if composite["metadata"].get("namespace") and not namespaced:
            raise CompositionError(f"cannot apply cluster scoped {which} for a namespaced composite resource.")

    def _collect(
        self, composite: Manifest, observed: Mapping[str, Manifest], desired: Mapping[str, Desired]
    ) -> tuple[Key, ...]:
        """Delete resources that were composed and are no longer desired, and before each what it composed itself."""
        gone = [name for name in sorted(observed) if name not in desired]
        for name in gone:
            obj = observed[name]
            labels = {k: v for k, v in mapping(obj, "metadata", "labels").items() if k != COMPOSITE_LABEL}
            self._store.put({**obj, "metadata": {**obj["metadata"], "labels": labels}})
            if not self._deletions.delete(key_of(obj), foreground=True):
                which = f'"{name}" (a {obj["kind"]} named {obj["metadata"]["name"]})'
                raise CompositionError(
                    "cannot garbage collect composed resources that are no longer desired: "
                    f"cannot delete composed resource {which}: This resource is in-use by a usage"
                )
            self._applications.forget(composite, name)
        return tuple(key_of(observed[name]) for name in gone)

    def _record(self, composite: Manifest, rendered: Iterable[Rendered]) -> None:
        """Write the references to all composed resources, before any of them is created."""
        namespaced = bool(composite["metadata"].get("namespace"))
        refs = references((made.intent for made in rendered), namespaced=namespaced)
        machinery = mapping(composite, "spec", "crossplane")
        if refs or machinery.get("resourceRefs"):
            spec = {**mapping(composite, "spec"), "crossplane": {**machinery, "resourceRefs": refs}}
            self._store.put({**composite, "spec": spec})
