"""How a function is called: which of its operands are evaluated, and when, as cel-go does it."""

from collections.abc import Callable

from modelplane.cel.library import Function
from modelplane.cel.values import EvaluationError, Frame, OptionalValue, Value

Code = Callable[[Frame], Value]


def call(function: Function, operands: tuple[Code, ...]) -> Code:
    """Return the code of a call."""
    if function.name in {"or", "orValue"}:
        return _lazy(function, *operands)
    if len(operands) == 2:
        return _binary(function, *operands)
    return _strict(function, operands)


def _apply(frame: Frame, function: Function, *arguments: Value) -> Value:
    overload = function.choose(arguments)
    frame.charge(overload.cost(*arguments))
    return overload.run(*arguments)


def _binary(function: Function, left: Code, right: Code) -> Code:
    chosen = function.chosen

    def run(frame: Frame) -> Value:
        try:
            one = left(frame)
        except EvaluationError:
            # The right side is evaluated nevertheless, as in Kubernetes: it may abort, or change a quantity.
            right(frame)
            raise
        other = right(frame)
        overload = chosen.get((type(one), type(other))) or function.choose((one, other))
        frame.charge(overload.cost(one, other))
        return overload.run(one, other)

    return run


def _strict(function: Function, operands: tuple[Code, ...]) -> Code:
    return lambda frame: _apply(frame, function, *[operand(frame) for operand in operands])


def _lazy(function: Function, optional: Code, other: Code) -> Code:
    """`or` and `orValue` evaluate their argument only when it is needed."""

    def run(frame: Frame) -> Value:
        found = optional(frame)
        if type(found) is OptionalValue and found.items:
            return found if function.name == "or" else found.items[0]
        return _apply(frame, function, found, other(frame))

    return run
