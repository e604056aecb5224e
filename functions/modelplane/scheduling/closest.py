"""Finds the device that came closest to satisfying a request, to be named in a refusal."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from modelplane import cel
from modelplane.cel.quantity import QuantityError
from modelplane.cel.quantity import parse as parse_quantity
from modelplane.cel.semver import SemverError
from modelplane.cel.semver import parse as parse_version
from modelplane.model.fleet import Device
from modelplane.model.refusal import Closest, Nearness
from modelplane.scheduling.budget import Meter, states_of

#: A device's driver, attribute or capacity as selectors write it, by field or by key.
_REFERENCE = (
    r"""device\.(?:driver\b|(?P<where>attributes|capacity)\[\s*["'](?P<domain>[^"']+)["']\s*\]"""
    r"""(?:\.(?P<field>\w+)|\[\s*["'](?P<key>[^"']+)["']\s*\]))"""
)
_WRAPPED = r"""(?:quantity|semver)\(\s*["'](?P<{}>[^"']+)["']\s*\)"""
_OPERATOR = r"(?P<{}>[<>]=?|[=!]=)"
#: A selector that is one comparison.
_COMPARISON = re.compile(
    rf"\s*{_REFERENCE}\s*(?:"
    rf"\.compareTo\(\s*{_WRAPPED.format('compared')}\s*\)\s*{_OPERATOR.format('sign')}\s*0"
    rf"|\.(?P<method>isGreaterThan|isLessThan)\(\s*{_WRAPPED.format('limit')}\s*\)"
    rf"""|{_OPERATOR.format("operator")}\s*(?P<literal>"[^"]*"|'[^']*'|-?\w+))\s*"""
)
_PRODUCT = "productName"
_METHODS = {"isGreaterThan": ">", "isLessThan": "<"}
#: Most conditions of a selector that are evaluated one by one; each of them is compiled.
_CONDITIONS = 8
#: Most characters that are quoted of a selector, and of an error, whose end says what to write instead.
QUOTE, WHOLE = 120, 320
#: Above every part of a version.
_PART = 2**64


def quote(text: str, most: int = QUOTE) -> str:
    """Return a text on one line, cut where it is longer than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _name(reference: re.Match[str]) -> str:
    return reference["field"] or reference["key"] or "driver"


@dataclass(frozen=True, slots=True)
class _Value:
    """The value of a reference on a device: its text, and its type (`quantity`, or the attribute's type)."""

    text: str
    type: str


def _value(device: Device, reference: re.Match[str]) -> _Value | None:
    """Return the value of a reference on a device, None if the device has no such attribute or capacity."""
    where, domain, name = reference["where"], reference["domain"], _name(reference)
    if where is None:
        return _Value(device.driver, "string")
    names = {f"{domain}/{name}"} | ({name} if domain == device.driver else set())
    if where == "capacity":
        return next((_Value(text, "quantity") for key, text in device.capacity if key in names), None)
    found = next((attribute for attribute in device.attributes if attribute.name in names), None)
    if found is None:
        return None
    return _Value(str(found.value).lower() if isinstance(found.value, bool) else str(found.value), found.type)


def _number(value: _Value) -> Fraction | None:
    """Return the number by which values of a type are ordered, None for a value that has no order."""
    try:
        if value.type == "quantity":
            return parse_quantity(value.text).number()
        if value.type == "version":
            version = parse_version(value.text)
            of_release = (version.major * _PART + version.minor) * _PART + version.patch
            return Fraction(2 * of_release - bool(version.prerelease))
        return Fraction(int(value.text)) if value.type == "int" else None
    except (QuantityError, SemverError, ValueError):
        return None


def _distance(value: _Value, asked: str | None) -> Fraction | None:
    """Return the distance of a value from the one asked for, relative to the latter; None where it is not defined."""
    has, wanted = _number(value), None if asked is None else _number(_Value(asked, value.type))
    return None if has is None or wanted is None else abs(has - wanted) / max(abs(wanted), Fraction(1))


def _sign(comparison: re.Match[str]) -> str:
    return comparison["sign"] or comparison["operator"] or _METHODS[comparison["method"]]


def needs_of(selector: str) -> str:
    """Return what a selector asks for, e.g. `memory >= 140Gi`; its text where it is no plain comparison."""
    found = _COMPARISON.fullmatch(selector)
    if not found:
        return quote(selector)
    return quote(f"{_name(found)} {_sign(found)} {_asked(found)}")


def _asked(comparison: re.Match[str]) -> str:
    return str(comparison["compared"] or comparison["limit"] or comparison["literal"])


def describe(device: Device) -> str:
    """Return a device's driver and product, or driver and entry name where it declares no product."""
    products = (each.value for each in device.attributes if each.name.rpartition("/")[2] == _PRODUCT)
    return quote(f"{device.driver}, {next(products, device.name)}")


def shown(name: cel.Name) -> bool:
    """Tell whether `describe` shows an attribute, whatever a selector reads."""
    return name[2] == _PRODUCT


def conditions(selector: str) -> list[str]:
    """Return the conditions that a selector joins by `&&`; the whole selector where its text cannot be split."""
    parts = [part.strip() for part in selector.split("&&")]
    if len(parts) > _CONDITIONS or "||" in selector or "?" in selector:
        return [selector]
    return [selector] if any(isinstance(cel.compiled(part), cel.SelectorError) for part in parts) else parts


def _failed(parts: Sequence[str], device: Device, meter: Meter) -> int:
    """Return the position of the first condition that does not hold for a device."""
    subject = cel.subject(device)
    for at, part in enumerate(parts) if len(parts) > 1 else ():
        verdict, work = cel.measure(cel.compiled(part), subject)
        meter.add(states_of(work))
        if verdict.outcome is cel.Outcome.NO_MATCH:
            return at
    return 0


def closest_device(selector: str, devices: Iterable[Device], meter: Meter) -> Closest:
    """Return the device that came closest to satisfying a selector; `devices` is not empty and none satisfies it.

    It is the device that satisfies the most conditions, in their order. Of several, it is the one whose value is
    nearest to what the next condition asks for, compared as a quantity, a version or a number. Where that is no plain
    comparison it is the largest value, or the smallest where less is asked for. Beyond the meter's limit the selector
    counts as one condition, which takes no work.
    """
    parts = conditions(selector) if meter.spent < meter.limit else [selector]
    failed = [(_failed(parts, device, meter), device) for device in devices]
    furthest = max(at for at, _ in failed)
    condition, left = parts[furthest], sorted((d for at, d in failed if at == furthest), key=describe)
    comparison = _COMPARISON.fullmatch(condition)
    for reference in re.finditer(_REFERENCE, condition):
        values = [(value, device) for device in left if (value := _value(device, reference)) is not None]
        if values:
            value, device, distance = _nearest(values, condition, comparison)
            has = value.text if comparison else f"{_name(reference)} {value.text}"
            nearness = Nearness(conditions=furthest, distance=distance)
            return Closest(needs_of(condition), describe(device), quote(has), nearness=nearness)
    return Closest(needs_of(condition), describe(left[0]), nearness=Nearness(conditions=furthest))


def _nearest(
    values: Sequence[tuple[_Value, Device]], condition: str, comparison: re.Match[str] | None
) -> tuple[_Value, Device, Fraction | None]:
    """Return the value nearest to what a condition asks for, its device, and the distance where it is known.

    Ties go to the first by text, then by device.
    """
    asked = _asked(comparison) if comparison else None
    less = _sign(comparison).startswith("<") if comparison else "isLessThan" in condition

    def order(each: tuple[_Value, Device]) -> tuple[bool, Fraction, str]:
        distance, size = _distance(each[0], asked), _number(each[0])
        far = distance if distance is not None else size if less or size is None else -size
        return far is None, far or Fraction(0), each[0].text

    value, device = min(values, key=order)
    return value, device, _distance(value, asked)
