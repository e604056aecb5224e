"""Chains of fields and keys after a value, such as `device.attributes["d"].?x`, followed as cel-go follows them."""

from collections.abc import Callable
from dataclasses import dataclass

from modelplane.cel.values import (
    ABSENT,
    AbortError,
    EvaluationError,
    Frame,
    List,
    Map,
    OptionalValue,
    Uint,
    Value,
    type_name,
)

Code = Callable[[Frame], Value]
_KEYS = frozenset({bool, int, Uint, float, str})


@dataclass(frozen=True, slots=True)
class Link:
    """One step: the code of its key, whether it is `.?` or `[?]`, and whether it only tests presence (`has`).

    `name` is the key where it is a constant text.
    """

    key: Code
    optional: bool = False
    test: bool = False
    name: str | None = None


def follow(root: Code, links: tuple[Link, ...]) -> Code:
    """Return the code of a chain. From the first optional step on, an absent value is none instead of an error."""
    names, follow_any = _names(links), _follow(links)

    def run(frame: Frame) -> Value:
        current = root(frame)
        return _named(current, names) if names and type(current) is Map else follow_any(frame, current)

    return run


def _follow(links: tuple[Link, ...]) -> Callable[[Frame, Value], Value]:
    steps = links[:-1] if links[-1].test else links
    tested = links[-1].key if links[-1].test else None

    def run(frame: Frame, current: Value) -> Value:
        lenient = type(current) is OptionalValue
        if lenient:
            if tested is not None:
                raise AbortError("has() of an optional value is not supported")
            if not current.items:
                return current
            current = current.items[0]
            if type(current) is Map and current.default is not ABSENT:
                raise AbortError("an optional of all attributes or capacities has no defaults in Kubernetes")
        for step in steps:
            lenient = lenient or step.optional
            key = step.key(frame)
            found = look_up(current, key)
            if found is ABSENT:
                if not lenient:
                    raise EvaluationError(f"no such key: {key}")
                return OptionalValue() if tested is None else False
            current = found
        if tested is not None:
            return look_up(current, tested(frame)) is not ABSENT
        return OptionalValue((current,)) if lenient else current

    return run


def _names(links: tuple[Link, ...]) -> tuple[str, ...]:
    """Return the keys of a chain if all of them are constant texts, else ()."""
    names = [link.name for link in links if link.name is not None and not link.optional and not link.test]
    return tuple(names) if len(names) == len(links) else ()


def _named(found: Value, names: tuple[str, ...]) -> Value:
    """Return the value at a path of names, none of which is optional."""
    for name in names:
        if type(found) is Map:
            entry = found.entries.get(name)
            found = found.default if entry is None else entry[1]
        else:
            found = look_up(found, name)
        if found is ABSENT:
            raise EvaluationError(f"no such key: {name}")
    return found


def is_key(value: Value) -> bool:
    """Return whether a value can be a key or an index at all."""
    return type(value) in _KEYS


def look_up(value: Value, key: Value) -> Value:
    """Return the value under a key, ABSENT if there is none, also in a value that has no keys."""
    kind = type(value)
    if not is_key(key):
        raise AbortError(f"invalid key of type {type_name(key)}")
    if kind is Map:
        return value.find(key)
    if kind is List:
        index = _index(key)
        return value.sequence()[index] if 0 <= index < len(value.items) else ABSENT
    if kind is OptionalValue:
        raise AbortError("keys of an optional inside another value are not supported")
    return ABSENT


def _index(key: Value) -> int:
    kind = type(key)
    if kind is int or kind is Uint or (kind is float and key.is_integer()):
        return int(key)
    raise EvaluationError(f"unsupported index type {type_name(key)!r} in list")
