"""Reads declared devices, as an InferenceClass's spec and the pools of an InferenceCluster's status hold them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from modelplane.model.fleet import Attribute, ClaimKind, Device
from modelplane.observed.fields import count, mapping, text


@lru_cache(maxsize=4096)
def _interned(device: Device) -> Device:
    """Return the first device seen with this content: a thousand clusters of one class share one value."""
    return device


def _attribute(name: str, declared: Any) -> Attribute | None:
    """Return the typed value of one attribute; None unless exactly one of the four types is given."""
    given = {kind: value for kind, value in mapping(declared).items() if value is not None}
    if len(given) != 1:
        return None
    kind, value = next(iter(given.items()))
    fits = {
        "string": isinstance(value, str),
        "version": isinstance(value, str),
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
    }
    return Attribute(name, kind, value) if fits.get(kind, False) else None


def read_device(entry: Mapping[str, Any]) -> Device | str:
    """Return the declared device, or what is wrong with the entry (field and remedy in one sentence)."""
    name, driver = text(entry.get("name")), text(entry.get("driver"))
    if not name or not driver:
        return "devices[]: name and driver are required"
    claim = text(entry.get("claim")) or ClaimKind.DRA
    if claim not in tuple(ClaimKind):
        return f"devices[{name}].claim: {claim!r} is neither DRA nor Synthetic"
    attributes = []
    for key, declared in sorted(mapping(entry.get("attributes")).items()):
        attribute = _attribute(key, declared)
        if attribute is None:
            return f"devices[{name}].attributes[{key}]: give exactly one of string, version, bool, int"
        attributes.append(attribute)
    capacity = []
    for key, declared in sorted(mapping(entry.get("capacity")).items()):
        quantity = mapping(declared).get("value")
        if not isinstance(quantity, str):
            return f"devices[{name}].capacity[{key}].value: give a quantity as text"
        capacity.append((key, quantity))
    device = Device(
        name=name,
        driver=driver,
        device_class=text(entry.get("deviceClassName")) or None,
        count=count(entry.get("count", 1)),
        claim=ClaimKind(claim),
        attributes=tuple(attributes),
        capacity=tuple(capacity),
    )
    return _interned(device)
