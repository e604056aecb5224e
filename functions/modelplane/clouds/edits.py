"""What an edit of a resource that exists may do: the observed value stays where the new one would cost what serves.

A provider refuses the edit of an immutable field for ever, and makes no other change of that resource meanwhile. So
such a field is composed as it was observed. What a cloud does change in place may be worse: it replaces the nodes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.clouds.cloud import AskedPool

#: A place in `spec.forProvider`.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a managed resource. `asked_by` is the field of ours that it comes from; `source` says who says so."""

    path: Path
    asked_by: str
    source: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What is composed of an edit, and why it differs from what is asked for, by field of ours."""

    for_provider: Mapping[str, Any]
    refused: Mapping[str, str]
    held: Mapping[str, str]


def get(body: Mapping[str, Any], path: Path) -> Any:
    """Return the value at a path, None where there is none."""
    found: Any = body
    for step in path:
        if not isinstance(found, Mapping) or step not in found:
            return None
        found = found[step]
    return found


def put(body: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy of a mapping with a value at a path; None removes what is there."""
    first, *rest = path
    if rest:
        return {**body, first: put(body.get(first) or {}, tuple(rest), value)}
    return {**body, first: value} if value is not None else {key: each for key, each in body.items() if key != first}


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal; the order of a list of texts says nothing."""
    if isinstance(one, list) and isinstance(other, list) and all(isinstance(each, str) for each in (*one, *other)):
        return sorted(one) == sorted(other)
    return bool(one == other)


def _differing(asked: Mapping[str, Any], seen: Mapping[str, Any], fields: Iterable[Field]) -> Iterable[Field]:
    return [each for each in fields if not same(get(asked, each.path), get(seen, each.path))]


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(each)}" for key, each in sorted(value.items()))
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return "none" if value is None else str(value)


def settle(
    pool: AskedPool,
    asked: Mapping[str, Any],
    seen: Mapping[str, Any] | None,
    *,
    immutable: Iterable[Field],
    rolling: Iterable[Field],
) -> Settled:
    """Return what is composed of a pool's `asked` fields in view of those that were composed before, None for none.

    An `immutable` field stays for good; a `rolling` one while replicas hold the pool, unless that allows it.
    """
    composed, refused, held = dict(asked), {}, {}
    if seen is None:
        return Settled(composed, {}, {})
    for each in _differing(asked, seen, immutable):
        before, after = get(seen, each.path), get(asked, each.path)
        composed = put(composed, each.path, before)
        refused[each.asked_by] = f"{each.asked_by} stays {_shown(before)}, {_shown(after)} is asked for"
    if pool.held.nodes and not pool.allow_rolling:
        for each in _differing(asked, seen, rolling):
            before, after = get(seen, each.path), get(asked, each.path)
            composed = put(composed, each.path, before)
            held[each.asked_by] = f"{each.asked_by} stays {_shown(before)}, {_shown(after)} is asked for"
    return Settled(composed, refused, held)
