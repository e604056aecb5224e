"""Status conditions as Crossplane sets them: its own, a pipeline's, and Unknown after a fatal result."""

from collections.abc import Iterable, Sequence
from typing import Any

from modelplane.reading.tree import Manifest, Tree

#: Crossplane's own conditions; it ignores a function that sets one of them.
SYSTEM = frozenset({"Ready", "Synced", "Healthy", "UpToDate", "Responsive"})

_UNDETERMINED = "A fatal error occurred before the status of this condition could be determined."
#: How many names a message spells out.
_FIRST = 3


def condition(kind: str, status: str, reason: str, message: str = "") -> Tree:
    """Return a condition without its time."""
    # Types and reasons may be members of an enum; objects are plain JSON, which every YAML writer takes.
    made = {"type": str(kind), "status": status, "reason": str(reason)}
    return {**made, "message": message} if message else made


def responsive() -> Tree:
    """Return the condition that says the watch circuit of a composite is closed."""
    return condition("Responsive", "True", "WatchCircuitClosed")


def synced(unsynced: Sequence[str] = ()) -> Tree:
    """Return Synced after a pass; `unsynced` names the composed resources that the API server refused as invalid."""
    if unsynced:
        return condition("Synced", "False", "ReconcileError", f"Unsynced resources: {first_names(unsynced)}")
    return condition("Synced", "True", "ReconcileSuccess")


def failed(error: str) -> Tree:
    """Return Synced after a pass that changed nothing."""
    return condition("Synced", "False", "ReconcileError", error)


def ready(unready: Sequence[str], *, explicit: bool | None) -> Tree:
    """Return Ready: the pipeline's word if it is `explicit`, else whether every composed resource is ready."""
    if explicit or (explicit is None and not unready):
        return condition("Ready", "True", "Available")
    message = f"Unready resources: {first_names(unready)}" if explicit is None else ""
    return condition("Ready", "False", "Creating", message)


def deleting() -> Tree:
    """Return Ready of a composite that is being deleted."""
    return condition("Ready", "False", "Deleting")


def first_names(names: Iterable[str]) -> str:
    """Return the first three names in order and how many more there are, as Crossplane words it."""
    ordered = sorted(names)
    if len(ordered) > _FIRST:
        return f"{', '.join(ordered[:_FIRST])}, and {len(ordered) - _FIRST} more"
    if len(ordered) == _FIRST:
        return f"{', '.join(ordered[:-1])}, and {ordered[-1]}"
    return ", ".join(ordered)


class Conditions:
    """The conditions of one composite through one pass. `now` is RFC 3339; `generation` is that of the composite."""

    def __init__(self, present: Any, now: str, generation: int) -> None:
        found = present if isinstance(present, Sequence) and not isinstance(present, str) else ()
        self._list: list[Tree] = [dict(c) for c in found if isinstance(c, dict)]
        self._now = now
        self._generation = generation

    def set_own(self, *own: Tree) -> None:
        """Set conditions that Crossplane itself determined, for the generation it saw."""
        for made in own:
            self._set({**made, "observedGeneration": self._generation})

    def set_custom(self, custom: Iterable[Tree]) -> set[str]:
        """Set the conditions of a pipeline, except Crossplane's own types; return the types that were set."""
        accepted = [made for made in custom if made["type"] not in SYSTEM]
        for made in accepted:
            self._set(made)
        return {str(made["type"]) for made in accepted}

    def set_unknown(self, besides: set[str]) -> None:
        """Set every custom condition that a failed pass did not set to Unknown; like Crossplane, keep its time."""
        for present in tuple(self._list):
            kind = str(present.get("type"))
            if kind not in SYSTEM and kind not in besides:
                unknown = condition(kind, "Unknown", "FatalError", _UNDETERMINED)
                self._set(
                    {
                        **unknown,
                        "observedGeneration": self._generation,
                        "lastTransitionTime": present.get("lastTransitionTime", self._now),
                    }
                )

    def listed(self) -> list[Tree]:
        """Return the conditions in the order in which they first appeared."""
        return self._list

    def _set(self, made: Tree) -> None:
        """Replace the condition of this type unless it says the same: only a change moves its time."""
        for place, present in enumerate(self._list):
            if present.get("type") == made["type"]:
                if not _same(present, made):
                    self._list[place] = {"lastTransitionTime": self._now, **made}
                return
        self._list.append({"lastTransitionTime": self._now, **made})


def _same(one: Manifest, other: Manifest) -> bool:
    before, after = one.get("observedGeneration") or 0, other.get("observedGeneration") or 0
    return (before == after or 0 in (before, after)) and all(
        (one.get(field) or "") == (other.get(field) or "") for field in ("type", "status", "reason", "message")
    )
