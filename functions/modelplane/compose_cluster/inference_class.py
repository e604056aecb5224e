"""Validates an InferenceClass: whether selectors can be evaluated on each of its declared devices."""

from collections.abc import Iterator
from typing import Any

from modelplane.catalogue import doubt_device, doubt_memory, find_candidates
from modelplane.cel import problems
from modelplane.compose_cluster.device_selectors import describe_devices
from modelplane.model.catalogue import Capabilities
from modelplane.model.conditions import ClassCondition, Condition, Reason, Status
from modelplane.model.fleet import Device
from modelplane.observed.cluster import read_capabilities
from modelplane.observed.device import read_device
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.memo import once_per_version
from modelplane.step import SETTLED, Object, Request, Result


@once_per_version
def find_problems(declared: Object) -> tuple[str, ...]:
    """Return what is wrong with the devices of a class, each with its field; empty for an acceptable class.

    One invalid device makes the class unacceptable: Kubernetes leaves every pod pending whose selector fails on it.
    """
    entries = mapping(declared.body.get("spec")).get("devices")
    devices = [read_device(entry) for entry in mappings(entries)]
    if not isinstance(entries, list) or not devices or len(devices) != len(entries):
        return ("spec.devices: declare at least one device, each with its name and driver",)
    found = []
    for device in devices:
        if isinstance(device, str):
            found.append(f"spec.{device}")
        else:
            found += [f"spec.devices[{device.name}].{problem}" for problem in problems(device)]
    return (*found, *_capability_problems(declared))


def _declared(declared: Object) -> tuple[list[Device], Capabilities] | None:
    """Return the devices and the capabilities of a class, None where it declares no capabilities or not readably."""
    entries = mapping(declared.body.get("spec")).get("devices")
    devices = [read_device(entry) for entry in mappings(entries)]
    readable = [device for device in devices if not isinstance(device, str)]
    capabilities = read_capabilities(mapping(declared.body.get("spec")).get("capabilities"))
    return None if capabilities is None or len(readable) != len(devices) else (readable, capabilities)


def _capability_problems(declared: Object) -> Iterator[str]:
    """Yield what is wrong with the capabilities: they name no device that can be the GPU, or it has less memory."""
    if found := _declared(declared):
        doubts = {"device": doubt_device(*found), "memoryPerGpu": doubt_memory(*found)}
        yield from (f"spec.capabilities.{field}: {why}" for field, why in doubts.items() if why)


def _ambiguity(declared: Object) -> str:
    """Return that several devices may be the GPU, "" where it is clear which one is.

    It is no problem of the devices: a pool that names its GPU, or takes no profiles, uses them as they are.
    """
    found = _declared(declared)
    candidates = find_candidates(*found) if found else ()
    if not candidates:
        return ""
    return (
        f"spec.capabilities.device: pods claim several devices ({', '.join(candidates)}) and none is named gpu; name "
        "the one that is the GPU: until then profiles are placed only on pools that name it in capabilities.device"
    )


def compose(request: Request) -> Result:
    """Return the verdict over the class, and its devices as selectors read them; it composes nothing."""
    verdict = _verdict(request.composite)
    return Result(
        status=_describe(request.composite),
        conditions=(verdict,),
        ready=verdict.status is Status.TRUE,
        ttl=SETTLED,
        cacheable=True,
    )


def _describe(declared: Object) -> dict[str, Any]:
    """Return the devices as selectors read them, {} while a selector cannot be evaluated on one of them."""
    if find_problems(declared):
        return {}
    entries = mappings(mapping(declared.body.get("spec")).get("devices"))
    return describe_devices([device for each in entries if isinstance(device := read_device(each), Device)])


def _verdict(declared: Object) -> Condition:
    if found := find_problems(declared):
        return Condition(ClassCondition.ACCEPTED, Status.FALSE, Reason.INVALID_DEVICE, "; ".join(found))
    if ambiguity := _ambiguity(declared):
        return Condition(ClassCondition.ACCEPTED, Status.FALSE, Reason.AMBIGUOUS_DEVICE, ambiguity)
    return Condition(ClassCondition.ACCEPTED, Status.TRUE, Reason.AVAILABLE)
