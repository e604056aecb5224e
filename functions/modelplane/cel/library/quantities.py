"""Kubernetes' functions on quantities.

Kubernetes changes quantities while it evaluates, and selectors can see it: comparing a quantity in the int64 form
with one in the decimal form turns the receiver into the decimal form, for which `isInteger` is false; adding to a
quantity in the decimal form changes that quantity. Both are done here, but for adding to the device's own: that
would make the second evaluation differ from the first.
"""

from modelplane.cel import quantity
from modelplane.cel.library.registry import function, method
from modelplane.cel.quantity import Quantity, QuantityError, QuantityLimitError
from modelplane.cel.values import AbortError, EvaluationError, QuantityValue, quantity_value


def _parse(text: str) -> Quantity | None:
    try:
        return quantity.parse(text)
    except QuantityLimitError as error:
        raise AbortError(f"limit: {error}") from None
    except QuantityError:
        return None


@function("quantity", "string -> quantity")
def _quantity(text: str) -> QuantityValue:
    parsed = _parse(text)
    if parsed is None:
        raise EvaluationError(f"{text[:64]!r} is not a quantity")
    return quantity_value(parsed)


@function("isQuantity", "string -> bool")
def _is_quantity(text: str) -> bool:
    return _parse(text) is not None


@function("sign", "quantity -> int")
def _sign(value: QuantityValue) -> int:
    return quantity.compare(value.number.quantity, Quantity(0))


@method("isGreaterThan", "quantity, quantity -> bool")
def _is_greater(left: QuantityValue, right: QuantityValue) -> bool:
    return _compare(left, right) > 0


@method("isLessThan", "quantity, quantity -> bool")
def _is_less(left: QuantityValue, right: QuantityValue) -> bool:
    return _compare(left, right) < 0


@method("compareTo", "quantity, quantity -> int")
def _compare(left: QuantityValue, right: QuantityValue) -> int:
    a, b = left.number.quantity, right.number.quantity
    if a.compact and not b.compact:
        left.number.quantity = a.decimal()
    return quantity.compare(a, b)


@method("asApproximateFloat", "quantity -> double")
def _as_float(value: QuantityValue) -> float:
    try:
        return value.number.quantity.approximate()
    except OverflowError:
        raise AbortError("quantity is beyond the range of a double") from None


@method("asInteger", "quantity -> int")
def _as_integer(value: QuantityValue) -> int:
    integer = value.number.quantity.integer()
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


@method("isInteger", "quantity -> bool")
def _is_integer(value: QuantityValue) -> bool:
    return value.number.quantity.integer() is not None


@method("add", "quantity, quantity -> quantity")
def _add(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    return _plus(left, right.number.quantity)


@method("add", "quantity, int -> quantity")
def _add_int(left: QuantityValue, right: int) -> QuantityValue:
    return _plus(left, Quantity(right))


@method("sub", "quantity, quantity -> quantity")
def _subtract(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    return _plus(left, quantity.negative(right.number.quantity))


@method("sub", "quantity, int -> quantity")
def _subtract_int(left: QuantityValue, right: int) -> QuantityValue:
    return _plus(left, Quantity(-right))


def _plus(left: QuantityValue, right: Quantity) -> QuantityValue:
    total = quantity.add(left.number.quantity, right)
    if left.number.quantity.compact:
        return QuantityValue(quantity_value(total).number, derived=True)
    if left.number.lent:
        raise AbortError("adding to this quantity of the device changes the device in Kubernetes")
    left.number.quantity = total
    return QuantityValue(left.number, derived=True)
