"""Judges an InferenceClass: whether each of its declared devices is one that selectors can be evaluated on."""

from collections.abc import Iterator, Sequence

from modelplane.catalogue import declared_memory, exceeds_device, find_gpu
from modelplane.cel import problems
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

    One wrong device makes the class unacceptable: Kubernetes leaves each pod pending that a selector fails for.
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
    return (*found, *_capability_problems(declared, devices))


def _capability_problems(declared: Object, devices: Sequence[Device | str]) -> Iterator[str]:
    """Yield what is wrong with the capabilities: which device is the GPU is not clear, or it has less memory."""
    capabilities = read_capabilities(mapping(declared.body.get("spec")).get("capabilities"))
    readable = [device for device in devices if not isinstance(device, str)]
    if capabilities is None or len(readable) != len(devices):
        return
    gpu = find_gpu(readable, capabilities)
    if gpu is None:
        named = f"{capabilities.device} is no entry of devices that is claimed" if capabilities.device else "is missing"
        yield f"spec.capabilities.device: {named}; name the entry of devices that is the GPU"
    elif exceeds_device(capabilities, readable[gpu]):
        has = declared_memory(readable[gpu])
        yield (
            f"spec.capabilities.memoryPerGpu: {capabilities.memory_per_gpu} is more than a tenth above the memory of "
            f"device {readable[gpu].name}, {has}; correct one of them"
        )


def compose(request: Request) -> Result:
    """Return the verdict over the class; it composes nothing."""
    found = find_problems(request.composite)
    verdict = (
        Condition(ClassCondition.ACCEPTED, Status.FALSE, Reason.INVALID_DEVICE, "; ".join(found))
        if found
        else Condition(ClassCondition.ACCEPTED, Status.TRUE, Reason.AVAILABLE)
    )
    return Result(conditions=(verdict,), ready=not found, ttl=SETTLED)
