"""Judges an InferenceClass: whether each of its declared devices is one that selectors can be evaluated on."""

from modelplane.cel import problems
from modelplane.model.conditions import ClassCondition, Condition, Reason, Status
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
    return tuple(found)


def compose(request: Request) -> Result:
    """Return the verdict over the class; it composes nothing."""
    found = find_problems(request.composite)
    verdict = (
        Condition(ClassCondition.ACCEPTED, Status.FALSE, Reason.INVALID_DEVICE, "; ".join(found))
        if found
        else Condition(ClassCondition.ACCEPTED, Status.TRUE, Reason.AVAILABLE)
    )
    return Result(conditions=(verdict,), ready=not found, ttl=SETTLED)
