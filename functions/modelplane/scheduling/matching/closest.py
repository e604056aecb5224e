"""Finds the device that came closest to satisfying a request, to be named in a refusal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from modelplane import cel
from modelplane.cel.quantity import QuantityError
from modelplane.cel.quantity import parse as parse_quantity
from modelplane.cel.semver import SemverError
from modelplane.cel.semver import parse as parse_version
from modelplane.model.deployment import DeviceRequest
from modelplane.model.fleet import Device
from modelplane.model.refusal import Closest, Nearness
from modelplane.scheduling.search_budget import Meter, states_of
from modelplane.scheduling.words import WHOLE, quote

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
#: Most conditions of a request that are evaluated one by one.
_OF_REQUEST = 16
#: Above every part of a version.
_PART = 2**64


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


@dataclass(frozen=True, slots=True)
class Stop:
    """A device that does not satisfy a request: the index of the first selector that does not match, and its error."""

    device: Device
    selector: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Measured:
    """How many conditions of a request hold for a device, and the first of the failing selector that does not."""

    stop: Stop
    held: int
    condition: int = 0

    @property
    def rank(self) -> tuple[int, int, bool, int]:
        """Return the sort key of devices, the closest last."""
        return self.held, self.stop.selector, self.stop.error is None, self.condition


def _evaluate(parts: Sequence[str], device: Device, meter: Meter) -> list[cel.Outcome]:
    subject, outcomes = cel.subject(device), []
    for part in parts:
        verdict, work = cel.measure(cel.compiled(part), subject)
        meter.add(states_of(work))
        outcomes.append(verdict.outcome)
    return outcomes


def _first_failed(outcomes: Sequence[cel.Outcome]) -> int:
    """Return the position of the first condition that does not hold, 0 where conditions only fail with errors."""
    return outcomes.index(cel.Outcome.NO_MATCH) if cel.Outcome.NO_MATCH in outcomes else 0


def _measure(stop: Stop, parts: Sequence[Sequence[str]], meter: Meter) -> _Measured:
    """Return how many conditions hold for a device; those of the selectors before the failing one are known to."""
    before, failing, after = parts[: stop.selector], parts[stop.selector], parts[stop.selector + 1 :]
    outcomes = _evaluate(failing, stop.device, meter)
    further = _evaluate([part for of_selector in after for part in of_selector], stop.device, meter)
    held = sum(map(len, before)) + [*outcomes, *further].count(cel.Outcome.MATCH)
    # A request for the pool's GPUs takes no other entry, even one that satisfies every selector.
    return _Measured(stop, 0 if held == sum(map(len, parts)) else held, _first_failed(outcomes))


def closest_device(request: DeviceRequest, stops: Sequence[Stop], meter: Meter) -> tuple[int, Closest]:
    """Return the index of the selector that the closest device fails, and that device; `stops` is not empty.

    The closest device satisfies the most conditions of all selectors. Among equals it is the one that fails the last
    in their order, then one without an error, then the one whose value is nearest to what the condition asks for,
    compared as a quantity, a version or a number. Where that is no plain comparison it is the largest value, or the
    smallest where less is asked for. Among devices that are equal in this too, one with the name of the request goes
    first. If there are many conditions, whole selectors count. Beyond the meter's limit only those before the failing
    one count, which takes no work.
    """
    selectors, within = request.selectors, meter.spent < meter.limit
    few = within and sum(text.count("&&") + 1 for text in selectors) <= _OF_REQUEST
    parts = [conditions(text) if few else [text] for text in selectors]
    measured = [_measure(stop, parts, meter) if within else _Measured(stop, stop.selector) for stop in stops]
    best = max(each.rank for each in measured)
    left = [each for each in measured if each.rank == best]
    failing = left[0].stop.selector
    if left[0].stop.error is not None:
        found = _with_error(selectors[failing], left[0].stop)
    else:
        if within and not few:
            parts[failing] = conditions(selectors[failing])
            left = _refine(left, parts[failing], meter)
        devices = [each.stop.device for each in left]
        found = _with_value(parts[failing][left[0].condition], devices, request.name)
    nearness = replace(found.nearness, held=left[0].held, selectors=failing, conditions=left[0].condition)
    return failing, replace(found, nearness=nearness)


def _refine(measured: Sequence[_Measured], parts: Sequence[str], meter: Meter) -> list[_Measured]:
    """Return those that fail the last of a selector's conditions."""
    if len(parts) == 1:
        return [*measured]
    found = [replace(each, condition=_first_failed(_evaluate(parts, each.stop.device, meter))) for each in measured]
    furthest = max(each.condition for each in found)
    return [each for each in found if each.condition == furthest]


def _with_error(selector: str, stop: Stop) -> Closest:
    """Return a device with the error of a selector on it."""
    error = cel.keys_there(stop.error or "", selector, stop.device)
    return Closest(needs_of(selector), describe(stop.device), error=quote(error, WHOLE))


def _with_value(condition: str, devices: Sequence[Device], name: str) -> Closest:
    """Return the device with the value nearest to what a condition asks for, preferably the one with a name."""
    devices = sorted(devices, key=lambda each: (each.name != name, describe(each)))
    comparison = _COMPARISON.fullmatch(condition)
    for reference in re.finditer(_REFERENCE, condition):
        values = [(value, device) for device in devices if (value := _value(device, reference)) is not None]
        if values:
            value, device, distance = _nearest(values, condition, comparison, name)
            has = value.text if comparison else f"{_name(reference)} {value.text}"
            return Closest(needs_of(condition), describe(device), quote(has), nearness=Nearness(distance=distance))
    return Closest(needs_of(condition), describe(devices[0]))


def _nearest(
    values: Sequence[tuple[_Value, Device]], condition: str, comparison: re.Match[str] | None, name: str
) -> tuple[_Value, Device, Fraction | None]:
    """Return the value nearest to what a condition asks for, its device, and the distance where it is known.

    Ties go to the device with the name, then to the first by text, then to the first.
    """
    asked = _asked(comparison) if comparison else None
    less = _sign(comparison).startswith("<") if comparison else "isLessThan" in condition

    def order(each: tuple[_Value, Device]) -> tuple[bool, Fraction, bool, str]:
        distance, size = _distance(each[0], asked), _number(each[0])
        far = distance if distance is not None else size if less or size is None else -size
        return far is None, far or Fraction(0), each[1].name != name, each[0].text

    value, device = min(values, key=order)
    return value, device, _distance(value, asked)
