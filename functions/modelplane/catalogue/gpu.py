"""Which entry of a pool's devices is its GPU, and what the pool offers a profile there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from modelplane.catalogue.comparison import amount, compare
from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.refusal import CapabilityShort, Refusal

_GPU: Final = "gpu"
_MEMORY: Final = "memory"
_NONE: Final = Capabilities()


@dataclass(frozen=True, slots=True)
class Offer:
    """A pool that satisfies a profile: the index of its GPU among the devices, None if it is not known."""

    gpu: int | None = None


def find_gpu(devices: Sequence[Device], capabilities: Capabilities | None) -> int | None:
    """Return the index of the GPU: the entry in capabilities, else the only DRA entry, else the one named gpu."""
    claimed = [at for at, device in enumerate(devices) if device.claim is ClaimKind.DRA]
    named = capabilities.device if capabilities else None
    if named is None and len(claimed) == 1:
        return claimed[0]
    return next((at for at in claimed if devices[at].name == (named or _GPU)), None)


def declared_memory(device: Device) -> str | None:
    """Return the declared memory of a device as a quantity, in any domain; None if it is not declared."""
    found = [text for name, text in device.capacity if name.rpartition("/")[2] == _MEMORY]
    return found[0] if len(found) == 1 else None


def doubt_device(devices: Sequence[Device], capabilities: Capabilities) -> str:
    """Return why the entry that `device` names cannot be the GPU, "" where it can, or none is named."""
    names = ", ".join(device.name for device in devices if device.claim is ClaimKind.DRA)
    if not names:
        return "no entry of devices is claimed by pods, so that no profile can ask for a GPU; give the GPU claim: DRA"
    if capabilities.device is None or find_gpu(devices, capabilities) is not None:
        return ""
    return f"{capabilities.device} is none of the devices that pods claim ({names}); name the one that is the GPU"


def find_candidates(devices: Sequence[Device], capabilities: Capabilities) -> tuple[str, ...]:
    """Return the entries of which one has to be named as the GPU, () where it is clear which one is."""
    if capabilities.device is not None or find_gpu(devices, capabilities) is not None:
        return ()
    return tuple(device.name for device in devices if device.claim is ClaimKind.DRA)


def doubt_memory(devices: Sequence[Device], capabilities: Capabilities) -> str:
    """Return that `memoryPerGpu` is more than a tenth above what the GPU has, more than vendors round up; else ""."""
    gpu = find_gpu(devices, capabilities)
    stated, has = capabilities.memory_per_gpu, declared_memory(devices[gpu]) if gpu is not None else None
    box, reported = amount(stated) if stated else None, amount(has) if has else None
    if gpu is None or box is None or reported is None or box <= reported * 11 / 10:
        return ""
    return f"{stated} is more than a tenth above the memory of device {devices[gpu].name}, {has}; correct one of them"


def offer_of(requires: Requires, devices: Sequence[Device], capabilities: Capabilities | None) -> Offer | Refusal:
    """Return what a pool offers a profile, or what it lacks. Memory that it does not declare is that of its GPU."""
    declared, gpu = capabilities or _NONE, find_gpu(devices, capabilities)
    if declared.memory_per_gpu is None and gpu is not None:
        declared = replace(declared, memory_per_gpu=declared_memory(devices[gpu]))
    return compare(requires, declared) or Offer(gpu)


def no_gpu() -> CapabilityShort:
    """Return the refusal of a pool without a known GPU."""
    return CapabilityShort("device", "", "the name of the entry that is the GPU")
