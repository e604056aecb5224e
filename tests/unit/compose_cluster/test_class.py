"""An InferenceClass is accepted when every declared device can be evaluated; else it says what is wrong where."""

from typing import Any

import pytest

from modelplane import cel
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


def _declaring(capabilities: dict[str, Any], *devices: dict[str, Any]) -> dict[str, Any]:
    body = given.device_class(devices=list(devices) or [given.L4])
    return body | {"spec": body["spec"] | {"capabilities": capabilities}}


#: What the box says, what the driver reports, whether that is believed: a tenth is more than any vendor rounds up.
BOXES = [
    ("24Gi", "23034Mi", True),
    ("48Gi", "46068Mi", True),
    ("192Gi", "183359Mi", True),
    ("24Gi", "22731Mi", True),
    ("110Gi", "100Gi", True),
    ("111Gi", "100Gi", False),
    ("80Gi", "40Gi", False),
    ("40Gi", "80Gi", True),
]


@pytest.mark.parametrize(("box", "reported", "believed"), BOXES)
def test_memory_on_the_box_is_at_most_a_tenth_above_what_the_device_reports(
    box: str, reported: str, believed: bool
) -> None:
    found = _accepted(_declaring({"memoryPerGpu": box}, given.L4 | {"capacity": {"memory": {"value": reported}}}))
    assert (found[0] is Status.TRUE) is believed
    if not believed:
        assert found[2] == (
            f"spec.capabilities.memoryPerGpu: {box} is more than a tenth above the memory of device gpu, {reported}; "
            "correct one of them"
        )


TWO = [given.L4 | {"name": "left"}, given.L4 | {"name": "right"}]
OPEN = (
    "spec.capabilities.device: pods claim several devices (left, right) and none is named gpu; name the one that is "
    "the GPU: until then profiles are placed only on pools that name it in capabilities.device"
)
#: What a class declares, its devices, whether it is accepted, and what is said of it.
GPUS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], bool, str]] = {
    "one of two is named": ({"device": "right"}, TWO, True, ""),
    "one of two has the name": ({"interconnect": "nvlink"}, [*TWO, given.L4], True, ""),
    "none of two is named": ({"interconnect": "nvlink"}, TWO, False, OPEN),
    "none of that name": (
        {"device": "middle"},
        TWO,
        False,
        "spec.capabilities.device: middle is none of the devices that pods claim (left, right); name the one that is "
        "the GPU",
    ),
    "none that is claimed": (
        {"interconnect": "nvlink"},
        [given.L4 | {"claim": "Synthetic"}],
        False,
        "spec.capabilities.device: no entry of devices is claimed by pods, so that no profile can ask for a GPU; give "
        "the GPU claim: DRA",
    ),
}


@pytest.mark.parametrize(("declared", "devices", "accepted", "message"), GPUS.values(), ids=GPUS)
def test_a_class_is_accepted_once_it_is_clear_which_device_is_the_gpu(
    declared: dict[str, Any], devices: list[dict[str, Any]], accepted: bool, message: str
) -> None:
    found = _accepted(_declaring(declared, *devices))
    assert (found[0] is Status.TRUE, found[2]) == (accepted, message)


def test_a_class_that_declares_no_capabilities_may_have_any_devices() -> None:
    two = TWO
    assert _accepted(given.device_class(devices=two))[0] is Status.TRUE


@pytest.mark.proves("P13")
def test_the_status_repeats_the_devices_as_selectors_read_them() -> None:
    nic = {"name": "nic", "driver": "nic.example.com", "claim": "Synthetic", "count": 2}
    nic |= {"attributes": {"rdma": {"bool": True}, "fabric.example.org/gbps": {"int": 400}}}
    gpu = given.L4 | {
        "attributes": {"productName": {"string": "NVIDIA L4"}, "cudaComputeCapability": {"version": "8.9.0"}},
        "capacity": {"memory": {"value": "23034Mi"}},
    }
    body = given.device_class(devices=[gpu, nic])
    status = compose(Request(given.obj(body))).status or {}
    assert status["devices"] == [
        {
            "name": "gpu",
            "selectors": [
                'device.driver == "gpu.nvidia.com"',
                'device.attributes["gpu.nvidia.com"].cudaComputeCapability.compareTo(semver("8.9.0")) == 0',
                'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"',
                'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("23034Mi")) == 0',
            ],
        },
        {
            "name": "nic",
            "selectors": [
                'device.driver == "nic.example.com"',
                'device.attributes["fabric.example.org"].gbps == 400',
                'device.attributes["nic.example.com"].rdma == true',
            ],
        },
    ]
    assert status["summary"] == f"{gpu['count']} gpu (NVIDIA L4), 2 nic"
    for entry, declared in zip(status["devices"], (gpu, nic), strict=True):
        device = cel.read(declared)
        assert {cel.verdict(text, device).outcome for text in entry["selectors"]} == {cel.Outcome.MATCH}


def test_a_class_that_is_not_accepted_says_nothing_of_its_devices() -> None:
    assert not compose(Request(given.obj(given.device_class(devices=[given.BAD])))).status
