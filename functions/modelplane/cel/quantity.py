"""Kubernetes quantities: parsing, comparison and addition, in two representations that selectors can tell apart.

Kubernetes holds a quantity as an int64 with a power of ten where it can ("compact"), else as a big decimal.
`isInteger` and `asInteger` only work on the compact one, so which one a text gets is part of its value.
The rules are those of `k8s.io/apimachinery/pkg/api/resource`; `tests/data/quantities.json` holds its verdicts.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

_INT64_MAX = 2**63 - 1
_INT64_MIN = -(2**63)
#: Digits that always fit an int64, and so the compact form.
_COMPACT_DIGITS = 18
_NANO = -9
#: Longest text and largest power of ten that are computed. Kubernetes has no bound, and hangs on some.
_MAX_LENGTH = 400
_MAX_EXPONENT = 400

_TEXT = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_POWER = re.compile(r"[eE]([+-]?[0-9]+)")


class QuantityError(ValueError):
    """A text that is not a quantity."""


class QuantityLimitError(QuantityError):
    """A text that is a quantity to Kubernetes, but too large or too fine for this engine to compute with."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number `unscaled * 10**exponent`; `compact` says that Kubernetes holds it as an int64."""

    unscaled: int
    exponent: int = 0
    compact: bool = True

    def at(self, exponent: int) -> int:
        """Return the unscaled number for a power of ten that is not greater than its own."""
        return int(self.unscaled * 10 ** (self.exponent - exponent))

    def number(self) -> Fraction:
        """Return the number itself."""
        return Fraction(self.unscaled) * Fraction(10) ** self.exponent

    def decimal(self) -> "Quantity":
        """Return the same number in the big decimal form."""
        return replace(self, compact=False)

    def integer(self) -> int | None:
        """Return the int64 that `asInteger` returns in Kubernetes, None if `isInteger` is false."""
        if not self.compact or self.exponent < 0:
            return None
        value = self.at(0)
        return value if _INT64_MIN <= value <= _INT64_MAX else None

    def approximate(self) -> float:
        """Return the double of `asApproximateFloat`. Raises OverflowError above the range of a double."""
        base = float(self.unscaled)
        return base * _power_of_ten(self.exponent) if self.exponent else base


def parse(text: str) -> Quantity:
    """Return the quantity of a text. Raises QuantityError, or QuantityLimitError beyond the bounds of this module."""
    found = _TEXT.fullmatch(text)
    if not text or found is None:
        raise QuantityError(f"{text[:64]!r} is not a quantity")
    if len(text) > _MAX_LENGTH:
        raise QuantityLimitError(f"quantity is longer than {_MAX_LENGTH} characters")
    sign = -1 if found[1] == "-" else 1
    whole, fraction, suffix = found[2] or "0", found[3] or "", found[4]
    if suffix in _BINARY:
        parsed = _binary(sign, whole, fraction, _BINARY[suffix])
    else:
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else _written_exponent(text, suffix)
        parsed = _decimal(sign, whole, fraction, exponent)
    # A text without digits is zero in the compact form (`Ki`, `.m`), and not a quantity in the other (`Pi`, `.e-10`).
    if not parsed.compact and not any(character.isdigit() for character in text[: len(text) - len(suffix)]):
        raise QuantityError(f"{text[:64]!r} has no digits")
    return parsed


def compare(left: Quantity, right: Quantity) -> int:
    """Return -1, 0 or 1, as `Quantity.Cmp`: by number, whatever the form."""
    exponent = min(left.exponent, right.exponent)
    a, b = left.at(exponent), right.at(exponent)
    return (a > b) - (a < b)


def add(left: Quantity, right: Quantity) -> Quantity:
    """Return the sum; it is compact where both are and every step fits an int64."""
    if left.compact and right.compact:
        if right.unscaled == 0:
            return left
        if left.unscaled == 0:
            return right
    exponent = min(left.exponent, right.exponent)
    a, b = left.at(exponent), right.at(exponent)
    fits = all(_INT64_MIN <= number <= _INT64_MAX for number in (a, b, a + b))
    return Quantity(a + b, exponent, left.compact and right.compact and fits)


def negative(quantity: Quantity) -> Quantity:
    """Return the quantity with the other sign."""
    return replace(quantity, unscaled=-quantity.unscaled)


def _written_exponent(text: str, suffix: str) -> int:
    found = _POWER.fullmatch(suffix)
    # Kubernetes keeps the low 32 bits of an int64. An exponent that does not fit an int64 makes the text no quantity.
    if found is None or len(found[1]) > _MAX_LENGTH or not _INT64_MIN <= int(found[1]) <= _INT64_MAX:
        raise QuantityError(f"{text[:64]!r} has no valid suffix")
    if abs(int(found[1])) > _MAX_EXPONENT:
        raise QuantityLimitError(f"{text[:64]!r} has an exponent beyond {_MAX_EXPONENT}")
    return int(found[1])


def _decimal(sign: int, whole: str, fraction: str, exponent: int) -> Quantity:
    scale = exponent - len(fraction)
    if len(whole) + len(fraction) <= _COMPACT_DIGITS and scale >= _NANO:
        return Quantity(sign * int(whole + fraction), scale)
    return _in_nanos(sign, int(whole + fraction), scale)


def _binary(sign: int, whole: str, fraction: str, bits: int) -> Quantity:
    # The number of digits that fit beside the power of two is an estimate of Kubernetes', not exact.
    if not fraction and 14 - len(whole) - bits * 3 // 10 >= 0 and int(whole) << bits <= _INT64_MAX:
        return Quantity(sign * (int(whole) << bits), 0)
    number = int(whole + fraction) << bits
    if number > _INT64_MAX * 10 ** len(fraction):
        return Quantity(sign * _INT64_MAX, 0, compact=False)
    return _in_nanos(sign, number, -len(fraction))


def _in_nanos(sign: int, number: int, exponent: int) -> Quantity:
    """Return a big decimal in whole nanos, rounded away from zero."""
    shift = exponent - _NANO
    nanos = number * 10**shift if shift >= 0 else -(-number // 10**-shift)
    return Quantity(sign * nanos, _NANO, compact=False)


def _power_of_ten(exponent: int) -> float:
    # Go multiplies two table entries from 32 on, which rounds twice; one literal would differ in the last bit.
    high, low = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{high * 32}") * float(f"1e{low}")
    return float(f"1e-{high * 32}") / float(f"1e{low}")
