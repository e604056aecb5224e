"""Compares what a profile requires with what a pool declares (docs/catalogue.md, "What is compared").

It is not compiled to CEL: drivers report less than the nominal memory, and publish neither precisions nor fabrics.
kube-scheduler would evaluate a stamped selector again, and it would never match.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from modelplane.cel.quantity import QuantityError, parse
from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.refusal import CapabilityShort, NotMultiNode

_BANDWIDTH: Final = re.compile(r"([a-z][a-z0-9]*)-([0-9]{1,6})g(-or-better)?")


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """A fabric between nodes: its family, e.g. `ib`, and Gbit/s. `or_better`: a faster one is accepted too."""

    family: str
    gigabits: int
    or_better: bool = False


def parse_bandwidth(text: str) -> Bandwidth | None:
    """Return the bandwidth of a text such as `ib-400g-or-better`, None for an invalid text."""
    found = _BANDWIDTH.fullmatch(text.lower())
    return Bandwidth(found[1], int(found[2]), bool(found[3])) if found else None


@lru_cache(maxsize=1024)
def amount(text: str) -> Fraction | None:
    """Return the number of a quantity, None for an invalid text."""
    try:
        return parse(text).number()
    except QuantityError:
        return None


def _memory(needs: str, has: str) -> str | None:
    required, declared = amount(needs), amount(has)
    if required is None or declared is None:
        return f"{needs if required is None else has} is no quantity"
    return None if declared >= required else ""


def _equal(needs: str, has: str) -> str | None:
    return None if needs == has else ""


def _bandwidth(needs: str, has: str) -> str | None:
    required, declared = parse_bandwidth(needs), parse_bandwidth(has)
    if required is None or declared is None:
        return f"{needs if required is None else has} is no bandwidth such as ib-400g"
    if required.family != declared.family:
        return f"{required.family} and {declared.family} cannot be compared"
    enough = declared.gigabits == required.gigabits or (required.or_better and declared.gigabits > required.gigabits)
    return None if enough else ""


def _short(
    capability: str, needs: str | None, has: str | None, compared: Callable[[str, str], str | None]
) -> CapabilityShort | None:
    """Return the shortage of a capability; `compared` returns None if it suffices, else a note why it does not."""
    if needs is None:
        return None
    note = compared(needs, has) if has is not None else ""
    return None if note is None else CapabilityShort(capability, has or "", needs, note)


def _precisions(requires: Requires, has: Capabilities) -> CapabilityShort | None:
    declared = {each.lower() for each in has.precisions}
    if all(each.lower() in declared for each in requires.precisions):
        return None
    return CapabilityShort("precisionSupport", ", ".join(has.precisions), ", ".join(requires.precisions))


def _domain(requires: Requires, has: Capabilities) -> CapabilityShort | None:
    needs, size = requires.nvlink_domain_size, has.nvlink_domain_size
    if needs is None or (size is not None and size >= needs):
        return None
    return CapabilityShort("nvlinkDomainSize", "" if size is None else str(size), str(needs))


#: Capabilities in the order in which they are compared: a pool that fails at a later one is nearer.
_ORDER: Final = ("memoryPerGpu", "interconnect", "precisionSupport", "nvlinkDomainSize", "interNodeBandwidth")


def shortness(short: CapabilityShort) -> tuple[int, Fraction]:
    """Return how far a pool is from satisfying a profile, the smaller the nearer.

    It is the number of capabilities that were no longer compared, then the missing part of the memory.
    """
    later = len(_ORDER) - _ORDER.index(short.capability) if short.capability in _ORDER else 0
    needs, has = (amount(text) if short.capability == _ORDER[0] else None for text in (short.needs, short.has))
    missing = (needs - has) / needs if needs and has is not None else Fraction(1)
    return later, missing


def compare(requires: Requires, has: Capabilities) -> CapabilityShort | NotMultiNode | None:
    """Return the first requirement of a profile that a pool does not satisfy, None if it satisfies all.

    Support for engines of several nodes is compared first, then the capabilities in the order of the API. A capability
    that the pool does not declare satisfies nothing.
    """
    if requires.several_nodes and not has.multi_node:
        return NotMultiNode(declared=has.multi_node is not None)
    return (
        _short("memoryPerGpu", requires.memory_per_gpu, has.memory_per_gpu, _memory)
        or _short("interconnect", requires.interconnect, has.interconnect, _equal)
        or _precisions(requires, has)
        or _domain(requires, has)
        or _short("interNodeBandwidth", requires.bandwidth, has.bandwidth, _bandwidth)
    )
