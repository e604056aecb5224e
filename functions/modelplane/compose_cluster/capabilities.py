"""The capabilities of a pool: those of its class, overridden by those that the cluster declares for the pool.

A declared value that contradicts the pool's devices is not published. The value published before stays if the devices
agree with it, so that a mistake in an override moves no replica.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.api.inferencecluster import NodePool
from modelplane.catalogue import doubt_device, doubt_memory, find_candidates
from modelplane.composing.messages import sentences
from modelplane.model.catalogue import Capabilities
from modelplane.model.fleet import Device
from modelplane.observed.cluster import read_capabilities
from modelplane.observed.device import read_device
from modelplane.observed.fields import mapping, mappings
from modelplane.step import Object

_Doubt = Callable[[Sequence[Device], Capabilities], str]
#: The capabilities that devices may contradict, in the order in which they are checked.
_DOUBTS: Final[tuple[tuple[str, _Doubt], ...]] = (("device", doubt_device), ("memoryPerGpu", doubt_memory))


@dataclass(frozen=True, slots=True)
class PoolCapabilities:
    """The published capabilities of a pool, {} for none, and messages about values that are not published."""

    published: Mapping[str, Any]
    problems: tuple[str, ...] = ()


def _devices(declared: Object) -> list[Device]:
    entries = mapping(declared.body.get("spec")).get("devices")
    return [found for entry in mappings(entries) if not isinstance(found := read_device(entry), str)]


def _doubt(doubt: _Doubt, devices: Sequence[Device], declared: Mapping[str, Any]) -> str:
    found = read_capabilities(declared)
    return doubt(devices, found) if found else ""


def find_capabilities(pool: NodePool, declared: Object, last: Mapping[str, Any]) -> PoolCapabilities:
    """Return the capabilities of a pool of the class `declared`; `last` is the entry that was published before."""
    own = pool.capabilities.model_dump(exclude_none=True) if pool.capabilities else {}
    merged = {**mapping(mapping(declared.body.get("spec")).get("capabilities")), **own}
    devices, problems, at = _devices(declared), [], f"spec.nodePools[{pool.name}].capabilities"
    for field, doubt in _DOUBTS:
        why = _doubt(doubt, devices, merged)
        if not why:
            continue
        merged.pop(field, None)
        kept = mapping(last.get("capabilities")).get(field)
        if kept and not _doubt(doubt, devices, {**merged, field: kept}):
            merged[field] = kept
            problems.append(sentences(f"{at}.{field}: {why}", f"{kept} is published until then, as it was before."))
        else:
            problems.append(sentences(f"{at}.{field}: {why}", "It is not published until then."))
    found = read_capabilities(merged)
    if found and (candidates := find_candidates(devices, found)):
        several = f"{at}.device: pods claim several devices ({', '.join(candidates)}) and none is named gpu"
        problems.append(
            sentences(several, "Name the one that is the GPU: no profile is placed on the pool until then.")
        )
    return PoolCapabilities(merged, tuple(problems))
