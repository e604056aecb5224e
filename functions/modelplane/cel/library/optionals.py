"""Optionals: values that may be absent, such as those of `.?field` and `[?key]`."""

from types import NoneType

from modelplane.cel.library.registry import function, method
from modelplane.cel.values import EvaluationError, List, Map, OptionalValue, Uint, Value, weight

_SCALARS = frozenset({bool, int, Uint, float, str, bytes, NoneType})


@function("optional.of", "A -> optional<A>")
def _of(value: Value) -> OptionalValue:
    return OptionalValue((value,))


@function("optional.ofNonZeroValue", "A -> optional<A>")
def _of_non_zero(value: Value) -> OptionalValue:
    if type(value) is List or type(value) is Map:
        return OptionalValue((value,) if value.weight > 1 else ())
    return OptionalValue(() if type(value) in _SCALARS and not value else (value,))


@function("optional.none", "-> optional<A>")
def _none() -> OptionalValue:
    return OptionalValue()


@method("value", "optional<A> -> A")
def _value(optional: OptionalValue) -> Value:
    if not optional.items:
        raise EvaluationError("optional.none() dereference")
    return optional.items[0]


@method("hasValue", "optional<A> -> bool")
def _has_value(optional: OptionalValue) -> bool:
    return bool(optional.items)


@method("or", "optional<A>, optional<A> -> optional<A>")
def _or(optional: OptionalValue, other: OptionalValue) -> OptionalValue:
    return optional if optional.items else other


@method("orValue", "optional<A>, A -> A")
def _or_value(optional: OptionalValue, value: Value) -> Value:
    return optional.items[0] if optional.items else value


@method("first", "list<A> -> optional<A>", cost=weight)
def _first(values: List) -> OptionalValue:
    return OptionalValue(values.sequence()[:1])


@method("last", "list<A> -> optional<A>", cost=weight)
def _last(values: List) -> OptionalValue:
    return OptionalValue(values.sequence()[-1:])
