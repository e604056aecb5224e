"""Reads declared devices, as an InferenceClass's spec and the pools of an InferenceCluster's status hold them."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane import cel
from modelplane.lru import Lru, remembered
from modelplane.model.fleet import Device
from modelplane.observed.fields import count, text

_DEVICES: Final = Lru[Device](8 * 1024 * 1024)


@remembered(_DEVICES, cel.weigh_device)
def _interned(device: Device) -> Device:
    """Return the first device seen with this content: a thousand clusters of one class share one value."""
    return device


def read_device(entry: Mapping[str, Any]) -> Device | str:
    """Return the declared device, or what is wrong with the entry (field and remedy in one sentence).

    An unreadable count reads as 0.
    """
    name = text(entry.get("name"))
    if not name:
        return "devices[].name: is missing"
    try:
        return _interned(cel.read({**entry, "count": count(entry.get("count", 1))}))
    except cel.DeviceError as error:
        return f"devices[{name}].{error.field}: {error.why}"
