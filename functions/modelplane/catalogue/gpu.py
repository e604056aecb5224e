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
    """A pool that satisfies a profile: its GPU's place among the devices, None where it is not known."""

    gpu: int | None = None


def find_gpu(devices: Sequence[Device], capabilities: Capabilities | None) -> int | None:
    """Return the place of the GPU: the entry that capabilities name, else the only DRA one, else the one named gpu."""
    claimed = [at for at, device in enumerate(devices) if device.claim is ClaimKind.DRA]
    named = capabilities.device if capabilities else None
    if named is None and len(claimed) == 1:
        return claimed[0]
    return next((at for at in claimed if devices[at].name == (named or _GPU)), None)


def declared_memory(device: Device) -> str | None:
    """Return the declared memory of a device as a quantity, whatever its domain; None where it is not known."""
    found = [text for name, text in device.capacity if name.rpartition("/")[2] == _MEMORY]
    return found[0] if len(found) == 1 else None


def exceeds_device(capabilities: Capabilities, device: Device) -> bool:
    """Tell whether `memoryPerGpu` is more than a tenth above what the device has: more than vendors round up."""
    stated, has = capabilities.memory_per_gpu, declared_memory(device)
    box, reported = amount(stated) if stated else None, amount(has) if has else None
    return box is not None and reported is not None and box > reported * 11 / 10


def offer_of(requires: Requires, devices: Sequence[Device], capabilities: Capabilities | None) -> Offer | Refusal:
    """Return what a pool offers a profile, or what it lacks. Memory that it does not declare is that of its GPU."""
    declared, gpu = capabilities or _NONE, find_gpu(devices, capabilities)
    if declared.memory_per_gpu is None and gpu is not None:
        declared = replace(declared, memory_per_gpu=declared_memory(devices[gpu]))
    return compare(requires, declared) or Offer(gpu)


def no_gpu() -> CapabilityShort:
    """Return the refusal of a pool whose GPU is not known."""
    return CapabilityShort("device", "", "the name of the entry that is the GPU")
