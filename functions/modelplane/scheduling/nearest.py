"""Names the value that came nearest to a selector, for the reader of a refusal."""

import re
from collections.abc import Sequence

from modelplane.model.fleet import Device

#: A device's attribute or capacity as selectors write it, by field or by key.
_REFERENCE = re.compile(
    r"""device\.(attributes|capacity)\[\s*["']([^"']+)["']\s*\](?:\.(\w+)|\[\s*["']([^"']+)["']\s*\])"""
)
_SUFFIXES = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18} | {
    f"{letter}i": 2.0 ** (10 * power) for power, letter in enumerate("KMGTPE", 1)
}
_QUANTITY = re.compile(r"([0-9.]+)([A-Za-z]*)")


def _value(device: Device, where: str, domain: str, name: str) -> str | None:
    """Return the text of an attribute or capacity of the device, None when it has none of that name."""
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


def nearest_value(selector: str, devices: Sequence[Device]) -> str | None:
    """Return e.g. `memory 24Gi`: what the selector looks at, and of the devices' values the largest one.

    A selector that asks for less gets the smallest. None where the selector names no attribute or capacity, or no
    device has it.
    """
    for where, domain, field, key in _REFERENCE.findall(selector):
        name = field or key
        values = [value for device in devices if (value := _value(device, where, domain, name)) is not None]
        if values:
            pick = min if "isLessThan" in selector else max
            return f"{name} {pick(sorted(values), key=_amount)}"
    return None
