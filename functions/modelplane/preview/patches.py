"""Changes of a tree: RFC 7386 merge patches, and server-side apply of one owner's intent."""

from collections.abc import Mapping
from typing import Any

from modelplane.reading.tree import Manifest, Tree, clone, mapping


def merge_patch(target: Any, patch: Any) -> Any:
    """Return `target` after a JSON merge patch (RFC 7386): null removes, mappings merge, other values replace."""
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
