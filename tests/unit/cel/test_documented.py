"""Selectors of every form that the pages show match the device that they describe, and no other."""

from typing import Any

import pytest

from modelplane import cel
from modelplane.model.fleet import Device
from modelplane.observed.device import read_device

L4: dict[str, Any] = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "attributes": {
        "productName": {"string": "NVIDIA L4"},
        "architecture": {"string": "Ada Lovelace"},
        "cudaComputeCapability": {"version": "8.9.0"},
        "mig": {"bool": False},
        "index": {"int": 3},
    },
    "capacity": {"memory": {"value": "23034Mi"}},
}
H200 = {
    **L4,
    "attributes": {
        "productName": {"string": "NVIDIA H200"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "mig": {"bool": True},
        "index": {"int": 7},
    },
    "capacity": {"memory": {"value": "141Gi"}},
}
G = '"gpu.nvidia.com"'
#: Each holds of an H200; whether it holds of an L4.
SELECTORS = [
    (f'device.capacity[{G}].memory.compareTo(quantity("40Gi")) >= 0', False),
    (f'device.capacity[{G}].memory.compareTo(quantity("20Gi")) >= 0', True),
    (f'device.capacity[{G}].memory.isGreaterThan(quantity("80Gi"))', False),
    (f'device.capacity[{G}].memory.isLessThan(quantity("1Ti"))', True),
    (f'device.attributes[{G}].architecture == "Hopper"', False),
    (f'device.attributes[{G}].architecture != "Ampere"', True),
    (f'device.attributes[{G}].cudaComputeCapability.isGreaterThan(semver("8.9.0"))', False),
    (f'device.attributes[{G}].cudaComputeCapability.compareTo(semver("8.9.0")) >= 0', True),
    (f"device.driver == {G}", True),
    (f"{G} in device.attributes", True),
    (f"device.attributes[{G}].mig", False),
    (f"device.attributes[{G}].index >= 7", False),
    (
        f'device.attributes[{G}].architecture == "Hopper" &&\n'
        f'device.capacity[{G}].memory.compareTo(quantity("80Gi")) >= 0\n',
        False,
    ),
    (f'device.attributes[{G}].architecture == "Hopper" || device.attributes[{G}].index == 3', True),
]


@pytest.mark.proves("P42")
@pytest.mark.parametrize(("text", "small"), SELECTORS, ids=[text for text, _ in SELECTORS])
def test_a_documented_selector_matches_what_it_describes(text: str, small: bool) -> None:
    devices = [found for each in (H200, L4) if isinstance(found := read_device(each), Device)]
    verdicts = [cel.compile(text).evaluate(device) for device in devices]
    assert [verdict.outcome.name for verdict in verdicts] == ["MATCH", "MATCH" if small else "NO_MATCH"]
