"""Applies the desired resources of composites, server-side and with force, and remembers what it applied."""

from dataclasses import dataclass

from modelplane.preview.admission import InvalidObject, admit
from modelplane.preview.composed import render
from modelplane.preview.deletion import controller_uid
from modelplane.preview.patches import apply_intent
from modelplane.preview.store import Store
from modelplane.reading.kinds import key_of
from modelplane.reading.tree import Manifest, Tree, items, mapping
from modelplane.step import Desired
from modelplane.step.secrets import mask_secrets, with_values_of

#: Top-level fields that a composite is assumed not to have applied to an object of unknown history.
_NOT_APPLIED = frozenset({"apiVersion", "kind", "metadata", "status"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """A desired resource, named and owned, ready to be applied. `settled`: the stored object is as desired."""

    name: str
    desired: Desired
    intent: Manifest
    settled: bool = False


@dataclass(frozen=True, slots=True)
class _Applied:
    """What was last applied for a resource: its key in the step, and the stored version."""

    key: object
    intent: Manifest
    version: tuple[str, str]


class Applications:
    """Server-side apply of composed resources, each with its composite as the field owner."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: dict[tuple[str, str], _Applied] = {}

    def fork(self, store: Store) -> "Applications":
        """Return what was applied to a fork of the store."""
        other = Applications(store)
        other._last = dict(self._last)
        return other

    def render(self, composite: Manifest, name: str, desired: Desired, observed: Manifest | None) -> Rendered:
        """Return a desired resource as it will be applied; it is built again only if its key has changed."""
        last = self._last.get((composite["metadata"]["uid"], name))
        unchanged = last is not None and observed is not None and last.version == _version(observed)
        if last and unchanged and desired.key is not None and desired.key == last.key:
            return Rendered(name, desired, last.intent, settled=True)
        intent = render(composite, name, desired.build(), observed)
        return Rendered(name, desired, intent, settled=bool(last and unchanged and last.intent == intent))

    def apply(self, composite: Manifest, rendered: Rendered) -> None:
        """Apply one resource; raises InvalidObject when the API server would refuse it as invalid."""
        if rendered.settled:
            return
        place = (composite["metadata"]["uid"], rendered.name)
        current = self._store.peek(key_of(rendered.intent))
        wanted = self._merge(place, current, rendered.intent)
        if controller_uid(wanted) != composite["metadata"]["uid"]:
            why = "Only one reference can have Controller set to true"
            raise InvalidObject(wanted, "metadata.ownerReferences", why)
        self._store.put(_admit(wanted, current))
        stored = self._store.peek(key_of(wanted))
        if stored is not None:
            self._last[place] = _Applied(rendered.desired.key, rendered.intent, _version(stored))

    def forget(self, composite: Manifest, name: str) -> None:
        """Forget a resource that is no longer desired."""
        self._last.pop((composite["metadata"]["uid"], name), None)

    def _merge(self, place: tuple[str, str], current: Manifest | None, intent: Manifest) -> Tree:
        if current is None:
            return dict(intent)
        last = self._last.get(place)
        previous = last.intent if last else _presumed(current)
        merged = apply_intent(current, intent, previous)
        ours = {ref.get("uid") for ref in items(intent, "metadata", "ownerReferences")}
        theirs = [ref for ref in items(current, "metadata", "ownerReferences") if ref.get("uid") not in ours]
        merged["metadata"]["ownerReferences"] = [*theirs, *items(intent, "metadata", "ownerReferences")]
        return merged


def _admit(wanted: Manifest, stored: Manifest | None) -> Manifest:
    """Admit an object with its sealed values masked; a sealed value outside a Secret is refused, as in a request."""
    return with_values_of(admit(dict(mask_secrets(wanted)), stored), wanted)


def _presumed(current: Manifest) -> Tree:
    """Return the assumed last-applied state of an object of unknown history: all but `spec.crossplane`."""
    applied = {k: v for k, v in current.items() if k not in _NOT_APPLIED}
    if "spec" in applied:
        applied["spec"] = {k: v for k, v in mapping(current, "spec").items() if k != "crossplane"}
    return applied


def _version(obj: Manifest) -> tuple[str, str]:
    return obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]
