"""The device that came closest to a selector, as a refusal names it."""

from collections.abc import Sequence

import pytest

from modelplane.cel import Outcome
from modelplane.model.fleet import Attribute, Device
from modelplane.model.refusal import Closest
from modelplane.scheduling.matching.closest import Stop, needs_of
from modelplane.scheduling.matching.closest import closest_device as closest_of
from modelplane.scheduling.matching.selectors import evaluate
from modelplane.scheduling.search_budget import Meter
from unit.scheduling.scene import GPU, gpu, memory, model, nic, request

MODEL = f'device.attributes["{GPU}"].model'
HERE = f"{GPU}, gpu"


def closest_device(selectors: str | Sequence[str], devices: Sequence[Device], meter: Meter | None = None) -> Closest:
    """Return the closest device to a request named `gpu` with these selectors."""
    wanted = request(1, *((selectors,) if isinstance(selectors, str) else selectors))
    stops = [
        Stop(device, found.selector, found.why if found.outcome is Outcome.ERROR else None)
        for device in devices
        for found in [evaluate(wanted.selectors, device)]
    ]
    return closest_of(wanted, stops, meter or Meter())[1]


@pytest.mark.parametrize(
    ("selector", "needs"),
    [
        (memory("80Gi"), "memory >= 80Gi"),
        (f"device.capacity['{GPU}']['memory'].isGreaterThan(quantity('99Gi'))", "memory > 99Gi"),
        (f'device.capacity["{GPU}"].memory.isLessThan( quantity("10Gi") )', "memory < 10Gi"),
        (f'device.attributes["{GPU}"].driver.compareTo(semver("550.0.0")) < 0', "driver < 550.0.0"),
        (f'{MODEL} == "b200"', 'model == "b200"'),
        (f"{MODEL}  !=  'b200'", "model != 'b200'"),
        (f'device.attributes["{GPU}"].cores>=20', "cores >= 20"),
        ('device.driver == "other"', 'driver == "other"'),
        (f'{MODEL}.startsWith("b")', f'{MODEL}.startsWith("b")'),
        (f'{MODEL}\n  in ["a", "b"]', f'{MODEL} in ["a", "b"]'),
        (f"0 <= {memory('1Gi')}", f"0 <= {memory('1Gi')}"),
    ],
)
def test_a_comparison_is_said_by_its_name_and_anything_else_as_it_is_written(selector: str, needs: str) -> None:
    assert needs_of(selector) == needs


@pytest.mark.parametrize(
    ("selector", "gib", "closest"),
    [
        (memory("80Gi"), (24, 40), Closest("memory >= 80Gi", HERE, "40Gi")),
        (
            f'device.capacity["{GPU}"].memory.isLessThan(quantity("10Gi"))',
            (24, 40),
            Closest("memory < 10Gi", HERE, "24Gi"),
        ),
        (memory("10Gi").replace(">=", "<"), (40, 24), Closest("memory < 10Gi", HERE, "24Gi")),
        (f'{MODEL} == "x"', (24,), Closest('model == "x"', HERE, "h100")),
        (f'{MODEL}.startsWith("x")', (24,), Closest(f'{MODEL}.startsWith("x")', HERE, "model h100")),
        ('device.driver == "other"', (24,), Closest('driver == "other"', HERE, GPU)),
        ("false", (24,), Closest("false", HERE)),
        (memory("20Gi").replace(">=", "=="), (8, 24, 80), Closest("memory == 20Gi", HERE, "24Gi")),
    ],
)
def test_the_closest_device_has_the_value_nearest_to_what_is_asked_for(
    selector: str, gib: tuple[int, ...], closest: Closest
) -> None:
    assert closest_device(selector, [gpu(1, each) for each in gib]) == closest


AMD = "gpu.amd.com"
CARDS = Device("a-card", "a.example.com", "a-card", attributes=(Attribute("a.example.com/rdma", "bool", value=True),))
#: A device that is none of a request's kind, a device that is, and what the refusal says of the latter.
MIXED = {
    "it satisfies the driver, and has no such attribute": (
        f'device.driver == "{GPU}" && {MODEL}Name == "b200"',
        (CARDS, gpu(1, 80)),
        Closest(
            f'device.driver == "{GPU}" && {MODEL}Name == "b200"',
            HERE,
            error=f"no such key: modelName (attributes of {GPU} here: model)",
        ),
    ),
    "it satisfies a later selector": (
        (f'device.driver == "{AMD}"', memory("40Gi")),
        (CARDS, gpu(1, 80)),
        Closest(f'driver == "{AMD}"', HERE, GPU),
    ),
    "it satisfies a later condition": (
        f'device.driver == "{AMD}" && {memory("40Gi")}',
        (CARDS, gpu(1, 80)),
        Closest(f'driver == "{AMD}"', HERE, GPU),
    ),
    "it satisfies two later conditions, another one the first": (
        (model("b200"), memory("80Gi"), memory("60Gi")),
        (gpu(1, 40, "b200", model="b200"), gpu(1, 80)),
        Closest('model == "b200"', HERE, "h100"),
    ),
    "it satisfies none either, and has the name of the request": (
        f'device.driver == "{AMD}"',
        (CARDS, gpu(1, 80), nic()),
        Closest(f'driver == "{AMD}"', HERE, GPU),
    ),
}


@pytest.mark.proves("P67")
@pytest.mark.parametrize("case", MIXED)
def test_the_closest_device_satisfies_the_most_conditions_of_the_request(case: str) -> None:
    selectors, devices, closest = MIXED[case]
    assert closest_device(selectors, devices) == closest
    assert closest_device(selectors, devices[::-1]) == closest


def test_an_entry_that_satisfies_everything_and_is_not_the_pools_gpu_is_not_the_closest() -> None:
    other, own = gpu(1, 80, name="other"), gpu(1, 40)
    stops = [Stop(other, 0), Stop(own, 1)]
    wanted = request(1, f'device.driver == "{GPU}"', memory("80Gi"), memory("60Gi"))
    for given in (stops, stops[::-1]):
        assert closest_of(wanted, given, Meter()) == (1, Closest("memory >= 80Gi", HERE, "40Gi"))


def test_of_several_conditions_the_first_that_the_closest_device_fails_is_named() -> None:
    devices = [gpu(1, 200, model="a100"), gpu(1, 40, model="h100"), gpu(1, 80, model="h100")]
    both = f'{MODEL} == "h100" && {memory("141Gi")}'
    assert closest_device(both, devices) == Closest("memory >= 141Gi", HERE, "80Gi")


def test_among_many_conditions_those_of_the_selector_that_the_closest_device_fails_still_count() -> None:
    many = tuple(f'device.driver == "{GPU}" && true && true && {number} >= 0' for number in range(5))
    failing = f'{MODEL} == "h100" && {memory("141Gi")}'
    devices = [gpu(1, 200, model="a100"), gpu(1, 40, model="h100"), gpu(1, 80, model="h100")]
    assert closest_device((*many, failing), devices) == Closest("memory >= 141Gi", HERE, "80Gi")


@pytest.mark.parametrize("selector", [f'({MODEL} == "x" && false)', f'{MODEL} == "a && b"', "false || 1 == 2 && true"])
def test_conditions_that_cannot_be_separated_are_one(selector: str) -> None:
    assert closest_device(selector, [gpu(1, 24)]).needs == needs_of(selector)


def test_a_device_is_named_by_its_driver_and_its_product() -> None:
    attributes = (Attribute("productName", "string", "NVIDIA L4"),)
    device = Device("gpu", GPU, "gpu", attributes=attributes, capacity=(("memory", "23034Mi"),))
    assert closest_device(memory("140Gi"), [device]) == Closest("memory >= 140Gi", f"{GPU}, NVIDIA L4", "23034Mi")


def test_a_qualified_name_and_a_bool_are_read_as_selectors_read_them() -> None:
    device = Device("gpu", "driver.example", "gpu", attributes=(Attribute("other.example/fast", "bool", value=False),))
    assert closest_device('device.attributes["other.example"].fast', [device]).has == "fast false"
    assert closest_device('device.attributes["driver.example"].fast', [device]).has == ""


def test_quantities_of_different_units_are_compared_by_size() -> None:
    devices = [Device("gpu", GPU, "gpu", capacity=(("memory", text),)) for text in ("900Mi", "1Gi", "odd")]
    assert closest_device(memory("2Gi"), devices).has == "1Gi"


def test_the_order_of_the_devices_does_not_matter() -> None:
    devices = [gpu(1, 40, model=name) for name in ("b", "a", "c")]
    assert closest_device(memory("80Gi"), devices) == closest_device(memory("80Gi"), devices[::-1])
    assert closest_device(f'{MODEL} == "x"', devices) == closest_device(f'{MODEL} == "x"', devices[::-1], Meter())


def test_versions_are_compared_as_versions() -> None:
    devices = [
        Device("gpu", GPU, "gpu", attributes=(Attribute("driver", "version", text),))
        for text in ("9.12.0", "10.2.0", "10.10.0-rc.1", "10.10.0")
    ]
    wanted = f'device.attributes["{GPU}"].driver.compareTo(semver("11.0.0")) >= 0'
    assert closest_device(wanted, devices).has == "10.10.0"
    assert closest_device(wanted, devices[:3]).has == "10.10.0-rc.1"


def test_numbers_are_compared_as_numbers() -> None:
    devices = [Device("gpu", GPU, "gpu", attributes=(Attribute("cores", "int", each),)) for each in (9, 64, 128)]
    assert closest_device(f'device.attributes["{GPU}"].cores == 100', devices).has == "128"
    assert closest_device(f'device.attributes["{GPU}"].cores > 128', devices).has == "128"


def test_beyond_the_states_for_wording_a_selector_is_one_condition() -> None:
    spent = Meter(limit=10)
    spent.add(10)
    both = f'{MODEL} == "h100" && {memory("141Gi")}'
    assert closest_device(both, [gpu(1, 40, model="h100")], spent).needs == needs_of(both)
    assert spent.spent == 10
