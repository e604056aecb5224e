"""JSON trees: deep copies, and access to fields that may be missing or malformed."""

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
    # dict is checked first because Mapping takes ten times as long, and nearly every object is a dict.
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        return {key: clone(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clone(item) for item in value]
    return str(value) if isinstance(value, str) else value


def child(tree: Any, *path: str) -> Any:
    """Return the value at a path of keys, None if a key is missing or a value is not a mapping."""
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
