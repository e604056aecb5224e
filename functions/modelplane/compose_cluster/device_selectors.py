"""Writes declared devices as selectors read them, so that who writes a selector copies the spelling of its keys."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from modelplane.cel import qualified
from modelplane.model.fleet import Attribute, Device

#: Most selectors that are written of one device.
_MOST: Final = 32
_PRODUCT: Final = "productName"


def _attribute(driver: str, attribute: Attribute) -> str:
    domain, name = qualified(driver, attribute.name)
    reference = f"device.attributes[{json.dumps(domain)}].{name}"
    if attribute.type == "version":
        return f"{reference}.compareTo(semver({json.dumps(attribute.value)})) == 0"
    return f"{reference} == {json.dumps(attribute.value)}"


def _selectors(device: Device) -> Iterator[str]:
    yield f"device.driver == {json.dumps(device.driver)}"
    for attribute in device.attributes:
        yield _attribute(device.driver, attribute)
    for key, amount in device.capacity:
        domain, name = qualified(device.driver, key)
        yield f"device.capacity[{json.dumps(domain)}].{name}.compareTo(quantity({json.dumps(amount)})) == 0"


def _summary(device: Device) -> str:
    products = (str(each.value) for each in device.attributes if each.name.rpartition("/")[2] == _PRODUCT)
    product = next(products, "")
    return f"{device.count} {device.name}{f' ({product})' if product else ''}"


def describe_devices(devices: Sequence[Device]) -> dict[str, Any]:
    """Return the status of an InferenceClass with these devices: each with selectors that it satisfies."""
    return {
        "summary": ", ".join(map(_summary, devices)),
        "devices": [{"name": each.name, "selectors": [*_selectors(each)][:_MOST]} for each in devices],
    }
