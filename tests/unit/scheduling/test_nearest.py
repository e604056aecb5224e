"""The value that came nearest to a selector, as a refusal names it."""

import pytest

from modelplane.model.fleet import Attribute, Device
from modelplane.scheduling.nearest import nearest_value
from unit.scheduling.scene import GPU, gpu, memory


@pytest.mark.parametrize(
    ("selector", "gib", "value"),
    [
        (memory("80Gi"), (24, 40), "memory 40Gi"),
        (f'device.capacity["{GPU}"].memory.isLessThan(quantity("10Gi"))', (24, 40), "memory 24Gi"),
        (f"device.capacity['{GPU}']['memory'].isGreaterThan(quantity('99Gi'))", (24,), "memory 24Gi"),
        (f'device.attributes["{GPU}"].model == "x"', (24,), "model h100"),
        ('device.driver == "other"', (24,), None),
        ('device.attributes["other.domain"].model == "x"', (24,), None),
    ],
)
def test_the_nearest_value_is_the_largest_unless_less_was_wanted(
    selector: str, gib: tuple[int, ...], value: str | None
) -> None:
    assert nearest_value(selector, [gpu(1, each) for each in gib]) == value


def test_a_qualified_name_and_a_bool_are_read_as_selectors_read_them() -> None:
    device = Device("gpu", "driver.example", "gpu", attributes=(Attribute("other.example/fast", "bool", value=False),))
    assert nearest_value('device.attributes["other.example"].fast', [device]) == "fast false"
    assert nearest_value('device.attributes["driver.example"].fast', [device]) is None


def test_quantities_of_different_units_are_compared_by_size() -> None:
    devices = [Device("gpu", GPU, "gpu", capacity=(("memory", text),)) for text in ("900Mi", "1Gi", "odd")]
    assert nearest_value(memory("2Gi"), devices) == "memory 1Gi"
