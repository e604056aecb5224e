"""The few device selectors the random fleets use, each with its meaning written in Python.

Rule: a selector says match, no match, or fails with an error. Asking a device for an attribute or capacity that it
does not declare is an error, not a "no"; selectors of a request are tried in order and the first "no" stops, so an
earlier selector guards a later one.
"""

from collections.abc import Callable, Iterable
from enum import Enum

from modelplane.model.fleet import Device

GPU = "gpu.nvidia.com"
NIC = "nic.example.com"


class Answer(Enum):
    """What selectors say about one device."""

    YES = "yes"
    NO = "no"
    ERROR = "error"


def _attribute(device: Device, name: str) -> str | bool | int:
    if device.driver == GPU:
        for attribute in device.attributes:
            if attribute.name == name:
                return attribute.value
    raise KeyError(name)


def _memory(device: Device) -> int:
    capacity = dict(device.capacity) if device.driver == GPU else {}
    return int(capacity["memory"].removesuffix("Gi"))


ANY_GPU = f'device.driver == "{GPU}"'
ANY_NIC = f'device.driver == "{NIC}"'
ANYTHING = 'device.driver != "no.such.driver"'
MODEL_A = f'device.attributes["{GPU}"].model == "a"'
MODEL_B = f'device.attributes["{GPU}"].model == "b"'
NO_MODEL = f'device.attributes["{GPU}"].model == "none"'
MEMORY_40 = f'device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0'
MEMORY_80 = f'device.capacity["{GPU}"].memory.compareTo(quantity("80Gi")) >= 0'
FAST = f'device.attributes["{GPU}"].fast'
GUARDED_FAST = f'"fast" in device.attributes["{GPU}"] && device.attributes["{GPU}"].fast'

_MEANING: dict[str, Callable[[Device], bool]] = {
    ANY_GPU: lambda device: device.driver == GPU,
    ANY_NIC: lambda device: device.driver == NIC,
    ANYTHING: lambda _: True,
    MODEL_A: lambda device: _attribute(device, "model") == "a",
    MODEL_B: lambda device: _attribute(device, "model") == "b",
    NO_MODEL: lambda device: _attribute(device, "model") == "none",
    MEMORY_40: lambda device: _memory(device) >= 40,
    MEMORY_80: lambda device: _memory(device) >= 80,
    FAST: lambda device: bool(_attribute(device, "fast")),
    GUARDED_FAST: lambda device: any(a.name == "fast" and bool(a.value) for a in device.attributes),
}

VOCABULARY = tuple(_MEANING)


def answer(selectors: Iterable[str], device: Device) -> Answer:
    """Return what all `selectors` together say about `device`."""
    for text in selectors:
        try:
            if not _MEANING[text](device):
                return Answer.NO
        except KeyError:
            return Answer.ERROR
    return Answer.YES
