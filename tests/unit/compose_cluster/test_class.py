"""An InferenceClass is accepted when every declared device can be evaluated; else it says what is wrong where."""

from typing import Any

import pytest

from modelplane.compose_cluster.inference_class import compose
from modelplane.model.conditions import Status
from modelplane.step import Request
from unit.compose_cluster import clusters as given


def _accepted(body: dict[str, Any]) -> tuple[Status, str, str, bool | None]:
    result = compose(Request(given.obj(body)))
    (accepted,) = result.conditions
    assert result.desired == {}
    assert result.requirements == ()
    return accepted.status, accepted.reason, accepted.message, result.ready


def test_a_class_of_sound_devices_is_available() -> None:
    assert _accepted(given.device_class()) == (Status.TRUE, "Available", "", True)


WRONG = {
    "a version that is not strict": ([given.BAD], "spec.devices[gpu]"),
    "a quantity that does not parse": ([given.L4 | {"capacity": {"memory": {"value": "much"}}}], "spec.devices[gpu]"),
    "one name given twice": (
        [given.L4 | {"attributes": {"a": {"int": 1}, "gpu.nvidia.com/a": {"int": 2}}}],
        "spec.devices[gpu]",
    ),
    "an untyped attribute": ([given.L4 | {"attributes": {"a": {}}}], "spec.devices[gpu].attributes[a]"),
    "no driver": ([{"name": "gpu"}], "spec.devices[gpu].driver"),
    "no devices": ([], "spec.devices:"),
    "devices that are no list": ("gpu", "spec.devices:"),
    "a device that is no object": ([given.L4, "gpu"], "spec.devices:"),
}


@pytest.mark.parametrize(("devices", "field"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_field(devices: Any, field: str) -> None:
    status, reason, message, ready = _accepted(given.device_class(devices=devices))
    assert (status, reason, ready) == (Status.FALSE, "InvalidDevice", False)
    assert message.startswith(field)


@pytest.mark.parametrize("spec", [None, {}, "text"])
def test_a_half_written_class_is_not_accepted(spec: Any) -> None:
    assert _accepted(given.device_class() | {"spec": spec})[1] == "InvalidDevice"


def test_every_wrong_device_is_named() -> None:
    message = _accepted(given.device_class(devices=[given.BAD, given.BAD | {"name": "other"}]))[2]
    assert "spec.devices[gpu]" in message
    assert "spec.devices[other]" in message
