"""The operators of CEL: arithmetic in 64 bits with overflow as an error, order across numbers, equality, `in`.

`&&`, `||` and `?:` are not here: they do not evaluate all their operands (see `evaluator`). `[]` and `[?]` are declared
here for the checker and evaluated there.
"""

import math

from modelplane.cel import comparison
from modelplane.cel.library.registry import function, pairwise
from modelplane.cel.semver import Semver
from modelplane.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    AbortError,
    EvaluationError,
    List,
    Map,
    Uint,
    Value,
)

_ORDERED = (
    "bool, bool -> bool",
    "int, int -> bool",
    "int, double -> bool",
    "int, uint -> bool",
    "uint, uint -> bool",
    "uint, double -> bool",
    "uint, int -> bool",
    "double, double -> bool",
    "double, int -> bool",
    "double, uint -> bool",
    "string, string -> bool",
    "bytes, bytes -> bool",
)


def whole(value: int) -> int:
    """Return an int result. Raises EvaluationError outside int64."""
    if not INT_MIN <= value <= INT_MAX:
        raise EvaluationError("integer overflow")
    return value


def natural(value: int) -> Uint:
    """Return a uint result. Raises EvaluationError outside uint64."""
    if not 0 <= value <= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


@function("!_", "bool -> bool")
def _not(value: bool) -> bool:  # noqa: FBT001 (a CEL value)
    return not value


@function("-_", "double -> double")
def _negate_double(value: float) -> float:
    return -value


@function("-_", "int -> int")
def _negate(value: int) -> int:
    return whole(-value)


@function("_==_", "A, A -> bool")
def _equal(left: Value, right: Value) -> bool:
    return comparison.equal(left, right)


@function("_!=_", "A, A -> bool")
def _differ(left: Value, right: Value) -> bool:
    return comparison.differ(left, right)


@function("_<_", *_ORDERED)
def _less(left: Value, right: Value) -> bool:
    return comparison.order(left, right) < 0


@function("_<=_", *_ORDERED)
def _less_or_equal(left: Value, right: Value) -> bool:
    return comparison.order(left, right) <= 0


@function("_>_", *_ORDERED)
def _greater(left: Value, right: Value) -> bool:
    return comparison.order(left, right) > 0


@function("_>=_", *_ORDERED)
def _greater_or_equal(left: Value, right: Value) -> bool:
    return comparison.order(left, right) >= 0


@function("_+_", "bytes, bytes -> bytes", "double, double -> double", "string, string -> string")
def _add(left: Value, right: Value) -> Value:
    return left + right


@function("_+_", "int, int -> int")
def _add_int(left: int, right: int) -> int:
    return whole(left + right)


@function("_+_", "list<A>, list<A> -> list<A>")
def _add_lists(left: List, right: List) -> List:
    if left.growing or right.growing:
        raise AbortError("adding to an empty list bound by cel.bind changes that list in Kubernetes")
    return List(left.items + right.items, left.ordered and right.ordered)


@function("_+_", "uint, uint -> uint")
def _add_uint(left: Uint, right: Uint) -> Uint:
    return natural(int(left) + int(right))


@function("_-_", "double, double -> double")
def _subtract_double(left: float, right: float) -> float:
    return left - right


@function("_-_", "int, int -> int")
def _subtract(left: int, right: int) -> int:
    return whole(left - right)


@function("_-_", "uint, uint -> uint")
def _subtract_uint(left: Uint, right: Uint) -> Uint:
    return natural(int(left) - int(right))


@function("_*_", "double, double -> double")
def _multiply_double(left: float, right: float) -> float:
    return left * right


@function("_*_", "int, int -> int")
def _multiply(left: int, right: int) -> int:
    return whole(left * right)


@function("_*_", "uint, uint -> uint")
def _multiply_uint(left: Uint, right: Uint) -> Uint:
    return natural(int(left) * int(right))


@function("_/_", "double, double -> double")
def _divide_double(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


@function("_/_", "int, int -> int")
def _divide(left: int, right: int) -> int:
    return whole(_truncated(left, right))


@function("_/_", "uint, uint -> uint")
def _divide_uint(left: Uint, right: Uint) -> Uint:
    return natural(_truncated(int(left), int(right)))


@function("_%_", "int, int -> int")
def _remainder(left: int, right: int) -> int:
    return left - right * whole(_truncated(left, right))


@function("_%_", "uint, uint -> uint")
def _remainder_uint(left: Uint, right: Uint) -> Uint:
    return natural(int(left) - int(right) * _truncated(int(left), int(right)))


def _truncated(left: int, right: int) -> int:
    if not right:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


@function("_in_", "A, list<A> -> bool", cost=pairwise)
def _in_list(value: Value, items: List) -> bool:
    # Kubernetes looks a value up in a hash table of the constants of a list, and panics on a version there.
    if type(value) is Semver and any(type(item) is not Semver for item in items.items):
        raise AbortError("a version cannot be looked up among values of another type")
    return comparison.contains(items.items, value)


@function("_in_", "A, map<A, B> -> bool")
def _in_map(key: Value, entries: Map) -> bool:
    return entries.has(key)


def _index(*_: Value) -> Value:
    raise AbortError("indexing is evaluated in place")


function("_[_]", "list<A>, int -> A", "map<A, B>, A -> B")(_index)
function("_[_]", "optional<list<A>>, int -> optional<A>", "optional<map<A, B>>, A -> optional<B>")(_index)
function("_[?_]", "list<A>, int -> optional<A>", "optional<list<A>>, int -> optional<A>")(_index)
function("_[?_]", "map<A, B>, A -> optional<B>", "optional<map<A, B>>, A -> optional<B>")(_index)
