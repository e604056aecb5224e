"""The values of selectors, as Python values, and the two ways in which an evaluation can fail.

bool, int, float, str, bytes and None stand for themselves; `semver.Semver` for a version. The others are below. Values
are compared by exact Python type: `True` is not an int, and neither is a `Uint`.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from modelplane.cel.quantity import Quantity

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1

#: Any value of this module; its type is known only at run time.
Value = Any


class EvaluationError(Exception):
    """An error of CEL, which `&&`, `||`, `exists` and `all` absorb if another operand decides."""


class AbortError(Exception):
    """An error that ends the evaluation: nothing absorbs it.

    It stands for a panic in Kubernetes' evaluator, a limit of ours, or a case in which Kubernetes' result is not
    determined (the order of a map, a quantity that an evaluation changes).
    """


class Uint(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class List:
    """A list. `weight` is its deep size, `ordered` is false where Kubernetes' order is random (made of a map's keys).

    `growing` marks an empty list bound by `cel.bind`: adding to it changes it in Kubernetes.
    """

    items: tuple[Value, ...]
    ordered: bool = True
    growing: bool = False
    weight: int = field(init=False)

    def __post_init__(self) -> None:
        self.weight = 1 + sum(map(weight, self.items))

    def sequence(self) -> tuple[Value, ...]:
        """Return the items where their order matters. Raises AbortError when it is random."""
        if not self.ordered:
            raise AbortError("the order of a map's keys is not determined")
        return self.items


class Absent:
    """The result of looking up what does not exist; null is a value."""

    __slots__ = ()


ABSENT = Absent()


@dataclass(slots=True, eq=False)
class Map:
    """A map. `entries` holds (key, value) by normal key; `default` is the value of an unknown key, if it has one."""

    entries: dict[Hashable, tuple[Value, Value]]
    default: Value = ABSENT
    weight: int = field(init=False)

    def __post_init__(self) -> None:
        self.weight = 1 + sum(weight(key) + weight(value) for key, value in self.entries.values())

    def find(self, key: Value) -> Value:
        """Return the value of a key, `default` for an unknown one."""
        found = self.entries.get(key if type(key) is str else normal_key(key))
        return self.default if found is None else found[1]

    def has(self, key: Value) -> bool:
        """Return whether the map has a key, whatever the default."""
        return normal_key(key) in self.entries

    def keys(self) -> List:
        """Return the keys, whose order is random in Kubernetes."""
        return List(tuple(key for key, _ in self.entries.values()), ordered=len(self.entries) < 2)


@dataclass(slots=True, eq=False)
class OptionalValue:
    """An optional: `items` holds its value, or nothing."""

    items: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, as `type(x)` gives it."""

    name: str


@dataclass(slots=True, eq=False)
class Number:
    """What a big decimal points to; sums of a quantity share it. `lent` by the device: never changed."""

    quantity: Quantity
    lent: bool = False


@dataclass(slots=True, eq=False)
class QuantityValue:
    """A quantity. Kubernetes changes quantities while it evaluates, and selectors can see it (see `quantities`).

    `derived` marks the result of `add` or `sub`, which is never equal to anything when it stands on the right.
    """

    number: Number
    derived: bool = False


@dataclass(slots=True, eq=False)
class Frame:
    """One evaluation: the device, the variables of macros by slot, and the work that may still be done."""

    device: Map
    variables: list[Value]
    work: int

    def charge(self, cost: int) -> None:
        """Subtract from the work that is left. Raises AbortError when none is left."""
        self.work -= cost
        if self.work < 0:
            raise AbortError("limit: the evaluation takes too much work")


def not_bool(value: Value) -> EvaluationError:
    """Return the error for a value that has to be a bool."""
    return EvaluationError(f"no such overload: {type_name(value)} is no bool")


def quantity_value(quantity: Quantity, *, lent: bool = False) -> QuantityValue:
    """Return a new value for a quantity, shared with no other."""
    return QuantityValue(Number(quantity, lent))


def normal_key(key: Value) -> Hashable:
    """Return the key under which a map stores a value: equal numbers of the three types are one key, true is not 1."""
    kind = type(key)
    if kind is str:
        return str(key)
    if kind is bool:
        return ("bool", key)
    if kind is int or kind is Uint:
        return int(key)
    if kind is float:
        return int(key) if key.is_integer() and abs(key) < 2.0**53 else ("double", key)
    raise AbortError(f"a map has no keys of type {type_name(key)}")


def weight(value: Value) -> int:
    """Return the work of reading a whole value, in units of about a microsecond."""
    kind = type(value)
    if kind is str or kind is bytes:
        return 1 + (len(value) >> 3)
    if kind is List or kind is Map:
        return int(value.weight)
    if kind is OptionalValue:
        return 1 + sum(map(weight, value.items))
    return 1


def type_name(value: Value) -> str:
    """Return the name of a value's type as CEL writes it."""
    return TYPE_NAMES.get(type(value), type(value).__name__)


#: CEL's name of each type of value, by the Python type that stands for it.
TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    List: "list",
    Map: "map",
    OptionalValue: "optional_type",
    TypeValue: "type",
    QuantityValue: "kubernetes.Quantity",
}
