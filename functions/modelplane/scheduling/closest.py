"""Names the device that came closest to satisfying a request, for the reader of a refusal."""

import re
from collections.abc import Callable, Iterable, Sequence

from modelplane import cel
from modelplane.model.fleet import Device
from modelplane.model.refusal import Closest

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
#: Most conditions of a selector that are looked at one by one, each of which is compiled.
_CONDITIONS = 8
#: Most characters of a selector or an error that are quoted.
QUOTE = 120
_SUFFIXES = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18} | {
    f"{letter}i": 2.0 ** (10 * power) for power, letter in enumerate("KMGTPE", 1)
}
_QUANTITY = re.compile(r"([0-9.]+)([A-Za-z]*)")


def quote(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE else f"{line[: QUOTE - 3]}..."


def _name(reference: re.Match[str]) -> str:
    return reference["field"] or reference["key"] or "driver"


def _value(device: Device, reference: re.Match[str]) -> str | None:
    """Return the text of what a reference means of a device, None when it has none of that name."""
    where, domain, name = reference["where"], reference["domain"], _name(reference)
    if where is None:
        return device.driver
    names = {f"{domain}/{name}"} | ({name} if domain == device.driver else set())
    if where == "capacity":
        return next((text for key, text in device.capacity if key in names), None)
    found = next((attribute.value for attribute in device.attributes if attribute.name in names), None)
    return str(found).lower() if isinstance(found, bool) else None if found is None else str(found)


def _amount(text: str) -> float:
    """Return a quantity's rough size, to order values by; what is no number comes last."""
    parsed = _QUANTITY.fullmatch(text)
    if not parsed or parsed[2] not in _SUFFIXES or parsed[1].count(".") > 1 or parsed[1] == ".":
        return float("-inf")
    return float(parsed[1]) * _SUFFIXES[parsed[2]]


def _sign(comparison: re.Match[str]) -> str:
    return comparison["sign"] or comparison["operator"] or _METHODS[comparison["method"]]


def needs_of(selector: str) -> str:
    """Return what a selector asks for, e.g. `memory >= 140Gi`; one that is no plain comparison as it is written."""
    found = _COMPARISON.fullmatch(selector)
    if not found:
        return quote(selector)
    return quote(f"{_name(found)} {_sign(found)} {found['compared'] or found['limit'] or found['literal']}")


def describe(device: Device) -> str:
    """Return a device's driver, and its product, or the entry's name where it does not say a product."""
    products = (each.value for each in device.attributes if each.name.rpartition("/")[2] == _PRODUCT)
    return quote(f"{device.driver}, {next(products, device.name)}")


def shown(name: cel.Name) -> bool:
    """Tell whether `describe` says an attribute of a device whatever a selector reads."""
    return name[2] == _PRODUCT


def conditions(selector: str) -> list[str]:
    """Return the conditions that a selector joins by `&&`, itself where they cannot be separated as texts."""
    parts = [part.strip() for part in selector.split("&&")]
    if len(parts) > _CONDITIONS or "||" in selector or "?" in selector:
        return [selector]
    return [selector] if any(isinstance(cel.compiled(part), cel.SelectorError) for part in parts) else parts


def _failed(parts: Sequence[str], device: Device) -> int:
    """Return the first condition that does not hold for a device."""
    subject = cel.subject(device)
    outcomes = (cel.measure(cel.compiled(each), subject)[0].outcome for each in parts if len(parts) > 1)
    return next((at for at, outcome in enumerate(outcomes) if outcome is cel.Outcome.NO_MATCH), 0)


def closest_device(selector: str, devices: Iterable[Device]) -> Closest:
    """Return the device that came closest to satisfying a selector, of some that do not and of which there is one.

    That is one that satisfies most of its conditions, and of these one with the largest value of what the next one
    compares; the smallest where less is asked for.
    """
    parts = conditions(selector)
    failed = [(_failed(parts, device), device) for device in devices]
    furthest = max(at for at, _ in failed)
    condition, left = parts[furthest], sorted((d for at, d in failed if at == furthest), key=describe)
    comparison = _COMPARISON.fullmatch(condition)
    less = _sign(comparison).startswith("<") if comparison else "isLessThan" in condition
    pick: Callable[..., tuple[str, Device]] = min if less else max
    for reference in re.finditer(_REFERENCE, condition):
        values = [(value, device) for device in left if (value := _value(device, reference)) is not None]
        if values:
            value, device = pick(sorted(values, key=lambda each: each[0]), key=lambda each: _amount(each[0]))
            has = value if comparison else f"{_name(reference)} {value}"
            return Closest(needs_of(condition), describe(device), quote(has))
    return Closest(needs_of(condition), describe(left[0]))
