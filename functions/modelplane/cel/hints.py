"""Suggests what to write instead of a failing selector, in addition to Kubernetes' own error text."""

import re
from typing import Final

from modelplane.cel.types import QUANTITY, SEMVER, Type
from modelplane.model.fleet import Device

#: The operators `<`, `<=`, `>` and `>=` as the checker names them.
_ORDERS: Final = {f"_{sign}_": sign for sign in ("<", "<=", ">", ">=")}
_MAKERS: Final = {QUANTITY: 'quantity("20Gi")', SEMVER: 'semver("1.2.3")'}
_MEMBERS: Final = frozenset({"compareTo", "isGreaterThan", "isLessThan"})
#: An attribute or capacity that a selector reads, by field or by key.
_READ = re.compile(r"""device\.(attributes|capacity)\[\s*["']([^"']+)["']\s*\](?:\.(\w+)|\[\s*["']([^"']+)["']\s*\])""")
_UNKNOWN: Final = "no such key: "
#: Most names that are listed.
_NAMES: Final = 16


def remedy(function: str, given: tuple[Type, ...]) -> str:
    """Return text to append to an error that no overload fits: how to use quantities or versions, else ""."""
    kind = next((each for each in given if each in _MAKERS), None)
    if kind is None:
        return ""
    if function in _ORDERS:
        sign = _ORDERS[function]
        return f"; they have no order by operators: write a.compareTo(b) {sign} 0, with b such as {_MAKERS[kind]}"
    return f"; give it {_MAKERS[kind]}" if function in _MEMBERS else ""


def keys_there(why: str, selector: str, device: Device) -> str:
    """Return the error of a selector on a device, completed by the keys that the device has if one is unknown."""
    key = why.removeprefix(_UNKNOWN)
    read = next((found for found in _READ.finditer(selector) if key in (found[3], found[4])), None)
    if key == why or read is None:
        return why
    where, domain = read[1], read[2]
    names = (
        [each.name for each in device.attributes] if where == "attributes" else [name for name, _ in device.capacity]
    )
    qualified = [name if "/" in name else f"{device.driver}/{name}" for name in names]
    there = sorted(name.partition("/")[2] for name in qualified if name.partition("/")[0] == domain)
    if there:
        return f"{why} ({where} of {domain} here: {_listed(there)})"
    domains = sorted({name.partition("/")[0] for name in qualified})
    return f"{why} (no {where} of {domain} here{f', only of {_listed(domains)}' if domains else ''})"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more
