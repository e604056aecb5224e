"""What a selector reads of a device: what it names, and everything where it could reach for anything."""

from dataclasses import replace

import pytest

from modelplane import cel
from modelplane.model.fleet import Attribute, ClaimKind, Device

D = "gpu.nvidia.com"
A, C = f'device.attributes["{D}"]', f'device.capacity["{D}"]'
DEVICE = Device(
    "gpu",
    D,
    "gpu-class",
    8,
    attributes=(Attribute("driverVersion", "version", "580.95.5"), Attribute("other.example.com/model", "string", "a")),
    capacity=(("memory", "80Gi"),),
)
NAMED = [
    ("true", set()),
    (f'device.driver == "{D}" && device.allowMultipleAllocations', set()),
    (f"{A}.driverVersion.major() == 580", {("attributes", D, "driverVersion")}),
    (f'{A}["driverVersion"].major() == 580', {("attributes", D, "driverVersion")}),
    (f"has({A}.x) && {A}.x == 1", {("attributes", D, "x")}),
    (f"{A}.?x.orValue(1) == 1", {("attributes", D, "x")}),
    (f'{A}.x == 1 || [1].exists(i, {C}.y == quantity("1"))', {("attributes", D, "x"), ("capacity", D, "y")}),
    (f'{{"a": {A}.x}}[{A}.y] == 1', {("attributes", D, "x"), ("attributes", D, "y")}),
    ('device.attributes.short.x == "a"', {("attributes", "short", "x")}),
]
ANYTHING = [
    f'"x" in {A}',
    f'"{D}" in device.attributes',
    f"has(device.attributes.x) && {A}.x == 1",
    "device.attributes[device.driver].x == 1",
    f'{A}["driver" + "Version"].major() == 580',
    f"cel.bind(a, {A}, a.x == 1)",
    f"cel.bind(d, device, {A}.x == 1)",
    f"{A}.exists(name, name == 'x')",
    'device.attributes[?"x"].hasValue()',
    f"[{C}].size() == 1",
]


@pytest.mark.parametrize(("text", "names"), NAMED, ids=[text for text, _ in NAMED])
def test_a_selector_reads_what_it_names(text: str, names: set[cel.Name]) -> None:
    assert cel.reads([text]) == frozenset(names)


@pytest.mark.parametrize("text", ANYTHING)
def test_a_selector_that_could_reach_for_anything_reads_everything(text: str) -> None:
    assert not isinstance(cel.compiled(text), cel.SelectorError)
    assert cel.reads(["true", text]) is None


def test_what_is_seen_of_a_device_is_what_is_read_of_it() -> None:
    bare = Device("", D, None, 1, ClaimKind.DRA)
    assert cel.seen(DEVICE, frozenset()) == bare
    read = frozenset({("attributes", "other.example.com", "model"), ("capacity", D, "memory"), ("capacity", D, "x")})
    assert cel.seen(DEVICE, read) == replace(bare, attributes=DEVICE.attributes[1:], capacity=DEVICE.capacity)
    assert cel.seen(DEVICE, None) == replace(bare, attributes=DEVICE.attributes, capacity=DEVICE.capacity)


def test_a_device_with_problems_is_seen_as_it_is() -> None:
    wrong = replace(DEVICE, capacity=(("memory", "a lot"),))
    assert cel.seen(wrong, frozenset()) is wrong
