"""JSON trees: copies, RFC 7386 merge patches, and server-side apply of one owner's intent."""

from collections.abc import Iterator, Mapping
from typing import Any

#: A JSON object that its holder may change.
Tree = dict[str, Any]
Manifest = Mapping[str, Any]

_LEAVES = frozenset({str, int, float, bool, type(None)})


def clone(value: Any) -> Any:
    """Return a deep copy of a JSON value in plain types: mappings become dicts, sequences lists, enums text."""
    if type(value) in _LEAVES:
        return value
    # Checked before Mapping, which takes ten times as long: nearly every object is a dict.
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        return {key: clone(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clone(item) for item in value]
    return str(value) if isinstance(value, str) else value


def child(tree: Any, *path: str) -> Any:
    """Return the value at a path of keys, None where a step is missing or no mapping."""
    for key in path:
        if not isinstance(tree, dict) and not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def mapping(tree: Any, *path: str) -> Manifest:
    """Return the mapping at a path, an empty one where there is none."""
    found = child(tree, *path)
    return found if isinstance(found, Mapping) else {}


def items(tree: Any, *path: str) -> Iterator[Manifest]:
    """Yield the mappings of the list at a path; what is no list or no mapping is passed over."""
    found = child(tree, *path)
    yield from (item for item in (found if isinstance(found, list | tuple) else ()) if isinstance(item, Mapping))


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` after a JSON merge patch (RFC 7386): null removes, mappings merge, all else replaces."""
    if not isinstance(patch, Mapping):
        return clone(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def apply_intent(current: Any, intent: Manifest, previous: Manifest) -> Tree:
    """Return `current` after one owner applied `intent`, having applied `previous` before (server-side apply, force).

    Fields of `previous` that `intent` no longer has are removed, other owners' fields stay. Lists are replaced whole:
    every list that we compose has one owner.
    """
    result: Tree = dict(current) if isinstance(current, Mapping) else {}
    for key in previous:
        if key in intent or key not in result:
            continue
        left = {}
        if isinstance(result[key], Mapping) and isinstance(previous[key], Mapping):
            left = apply_intent(result[key], {}, previous[key])
        if left:
            result[key] = left
        else:
            del result[key]
    for key, value in intent.items():
        if isinstance(value, Mapping):
            result[key] = apply_intent(result.get(key), value, mapping(previous, key))
        else:
            result[key] = clone(value)
    return result
