"""How a function of CEL is declared: one Python function per overload, under a signature as the CEL docs write it.

The checker matches the types of arguments with the signature, and the evaluator chooses the overload by it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import NoneType
from typing import TypeVar

from modelplane.cel import types
from modelplane.cel.semver import Semver
from modelplane.cel.types import Type
from modelplane.cel.values import (
    EvaluationError,
    List,
    Map,
    OptionalValue,
    QuantityValue,
    TypeValue,
    Uint,
    Value,
    type_name,
    weight,
)

Run = Callable[..., Value]
_Run = TypeVar("_Run", bound=Run)
Cost = Callable[..., int]

_NAMED = {"quantity": types.QUANTITY, "semver": types.SEMVER}
_PYTHON: dict[str, type] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "null_type": NoneType,
    "list": List,
    "map": Map,
    "optional_type": OptionalValue,
    "type": TypeValue,
    types.QUANTITY.name: QuantityValue,
    types.SEMVER.name: Semver,
}
#: Types of values whose `weight` is one unit of work, known here because most arguments are of these types.
_SCALARS = frozenset({bool, int, Uint, float, NoneType, TypeValue, QuantityValue, Semver})


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function. The receiver of a `member` is its first parameter."""

    params: tuple[Type, ...]
    result: Type
    member: bool
    run: Run
    cost: Cost

    def accepts(self, kinds: tuple[type, ...]) -> bool:
        """Return whether values of these Python types are what the parameters are at run time."""
        return len(kinds) == len(self.params) and all(
            param.variable or types.is_dynamic(param) or _PYTHON[param.name] is kind
            for param, kind in zip(self.params, kinds, strict=True)
        )


@dataclass(slots=True)
class Function:
    """A function and its overloads, in the order in which Kubernetes declares them.

    `chosen` remembers which one was picked for the types of arguments, None for none.
    """

    name: str
    overloads: list[Overload] = field(default_factory=list)
    chosen: dict[tuple[type, ...], Overload | None] = field(default_factory=dict)

    def choose(self, arguments: tuple[Value, ...]) -> Overload:
        """Return the overload for these arguments. Raises EvaluationError if there is none."""
        kinds = tuple([type(each) for each in arguments])
        chosen = self.chosen.get(kinds)
        if chosen is None:
            chosen = self.chosen[kinds] = next((each for each in self.overloads if each.accepts(kinds)), None)
        if chosen is None:
            raise EvaluationError(f"no such overload: {self.name}({', '.join(map(type_name, arguments))})")
        return chosen


#: Every function that selectors may call, by name. Filled when the modules of this package are imported.
FUNCTIONS: dict[str, Function] = {}


def total_weight(*arguments: Value) -> int:
    """Return the cost of reading every argument once."""
    total = 1
    for each in arguments:
        total += 1 if type(each) in _SCALARS else weight(each)
    return total


def pairwise(left: Value, right: Value, *_: Value) -> int:
    """Return the cost of comparing each part of one argument with each part of the other."""
    return 1 + weight(left) * weight(right)


def squared(value: Value, *_: Value) -> int:
    """Return the cost of comparing each part of an argument with each other one."""
    return 1 + weight(value) ** 2


def function(name: str, *signatures: str, cost: Cost = total_weight) -> Callable[[_Run], _Run]:
    """Declare global overloads, e.g. `function("size", "string -> int")`."""
    return _declare(name, signatures, cost, member=False)


def method(name: str, *signatures: str, cost: Cost = total_weight) -> Callable[[_Run], _Run]:
    """Declare member overloads; the receiver comes first, e.g. `method("charAt", "string, int -> string")`."""
    return _declare(name, signatures, cost, member=True)


def _declare(name: str, signatures: tuple[str, ...], cost: Cost, *, member: bool) -> Callable[[_Run], _Run]:
    def declare(run: _Run) -> _Run:
        for signature in signatures:
            params, result = signature.split("->")
            overload = Overload(_types(params), _types(result)[0], member, run, cost)
            FUNCTIONS.setdefault(name, Function(name)).overloads.append(overload)
        return run

    return declare


def _types(written: str) -> tuple[Type, ...]:
    words = re.findall(r"\w+|[<>,]", written)
    parsed: list[Type] = []
    while words:
        parsed.append(_type(words))
        if words:
            words.pop(0)
    return tuple(parsed)


def _type(words: list[str]) -> Type:
    name = words.pop(0)
    params: list[Type] = []
    if words and words[0] == "<":
        while words.pop(0) != ">":
            params.append(_type(words))
    if name in _NAMED:
        return _NAMED[name]
    return Type("optional_type" if name == "optional" else name, tuple(params), variable=name.isupper())
