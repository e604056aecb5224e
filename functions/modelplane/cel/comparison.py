"""Equality and order of values, with cel-go's asymmetries.

The left operand decides: `version == "x"` and `quantity == "x"` are errors, and `"x" == version` is false.
"""

import math
from collections.abc import Callable
from typing import Any

from modelplane.cel import quantity
from modelplane.cel.semver import Semver
from modelplane.cel.values import (
    ABSENT,
    AbortError,
    EvaluationError,
    List,
    Map,
    OptionalValue,
    QuantityValue,
    Uint,
    Value,
    type_name,
)

_NUMBERS = frozenset({int, Uint, float})
_ORDERED = frozenset({bool, str, bytes})
#: Types that are an error on the left of another type.
_STRICT = frozenset({QuantityValue, Semver})


def equal(left: Value, right: Value) -> bool:
    """Return `left == right`. Raises EvaluationError where the left operand cannot be compared with the right."""
    if left is None or right is None:
        return left is right
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return not _has_nan(left, right) and _order(left, right) == 0
    if kind in _STRICT:
        # On the right the result of add or sub is another Go type, to which no quantity is comparable.
        if other is not kind or (kind is QuantityValue and right.derived):
            raise _no_overload("==", left, right)
    elif kind is not other:
        return False
    by_content = _EQUAL.get(kind)
    return bool(left == right) if by_content is None else by_content(left, right)


def differ(left: Value, right: Value) -> bool:
    """Return `left != right`, which is true (no error) for what cannot be compared."""
    try:
        return not equal(left, right)
    except EvaluationError:
        return True


def contains(items: tuple[Value, ...], value: Value) -> bool:
    """Return whether a value is among the items; an item that it cannot be compared with is not equal."""
    return any(not differ(value, item) for item in items)


def order(left: Value, right: Value) -> int:
    """Return -1, 0 or 1. Raises EvaluationError for values that have no order between them."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        if _has_nan(left, right):
            raise EvaluationError("NaN values cannot be ordered")
        return _order(left, right)
    if kind is not other or kind not in _ORDERED:
        raise _no_overload("<", left, right)
    return bool(left > right) - bool(left < right)


def _order(left: float, right: float) -> int:
    if type(left) is not type(right) and float(left) == float(right) and left != right:
        # Kubernetes rounds the integer here and does not where it looks the value up in a list of constants.
        raise AbortError("an integer beyond 2**53 against a double")
    return (left > right) - (left < right)


def _has_nan(*numbers: float) -> bool:
    return any(type(number) is float and math.isnan(number) for number in numbers)


def _equal_lists(left: List, right: List) -> bool:
    return len(left.items) == len(right.items) and all(map(_equal_inside, left.sequence(), right.sequence()))


def _equal_maps(left: Map, right: Map) -> bool:
    if len(left.entries) != len(right.entries):
        return False
    for key, value in left.entries.values():
        found = right.find(key)
        if found is ABSENT or not _equal_inside(value, found):
            return False
    return True


def _equal_inside(left: Value, right: Value) -> bool:
    """Compare elements. cel-go takes elements that cannot be compared for equal or for an error: this aborts."""
    try:
        return equal(left, right)
    except EvaluationError as error:
        raise AbortError(f"inside a list or map: {error}") from None


def _equal_quantities(left: QuantityValue, right: QuantityValue) -> bool:
    return quantity.compare(left.number.quantity, right.number.quantity) == 0


def _equal_optionals(left: OptionalValue, right: OptionalValue) -> bool:
    return len(left.items) == len(right.items) and all(map(equal, left.items, right.items))


_EQUAL: dict[type, Callable[[Any, Any], bool]] = {
    QuantityValue: _equal_quantities,
    List: _equal_lists,
    Map: _equal_maps,
    OptionalValue: _equal_optionals,
}


def _no_overload(operator: str, left: Value, right: Value) -> EvaluationError:
    return EvaluationError(f"no such overload: {type_name(left)} {operator} {type_name(right)}")
