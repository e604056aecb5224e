"""CPU and memory of a pool's nodes as two more kinds that the check of room counts beside devices.

The check counts whole units of each kind, few enough that sums of them are cheap. A node has the whole units of what
its pool declares. A pod takes the whole units of its request, and at most one more. So the pods that share a node are
counted with every number of units that they can add up to, and too much is never admitted (docs/scheduling.md, "Room").
"""

from functools import lru_cache
from typing import Final

from modelplane.model.deployment import Member
from modelplane.model.refusal import LackedResource, NodeTooSmall, NodeUndeclared, Refusal
from modelplane.model.resources import NOTHING, Resources
from modelplane.scheduling.pools.groups import Demand, LackedUnits

#: The kinds, in the order in which they follow the device entries.
KINDS: Final = ("cpu", "memory")
#: The position of pods among the kinds. They are counted by `PodSlots`, whole and for the pool.
PODS: Final = len(KINDS)
#: Most units of a kind on a node.
MOST_UNITS: Final = 4096
#: Units of CPU, in thousandths, each a multiple of the one before, so that requests of whole CPUs and tenths are mostly
#: whole numbers of units. Of memory they are powers of two.
_CPU_UNITS: Final = (1, 5, 25, 50, 250, 500, 1000)


def _amounts(of: Resources) -> tuple[int, int]:
    return of.cpu, of.memory


@lru_cache(maxsize=256)
def units(node: Resources) -> tuple[int, int]:
    """Return the unit of each kind on such nodes: the smallest that gives at most `MOST_UNITS`."""
    small = (unit for unit in _CPU_UNITS if node.cpu // unit <= MOST_UNITS)
    cpu = next(small, -(-node.cpu // MOST_UNITS))
    return cpu, 1 << max(0, (node.memory // (MOST_UNITS + 1)).bit_length())


def counts_of(node: Resources) -> tuple[int, ...]:
    """Return how many units of each kind a node has, () where its pool declares none."""
    if node == NOTHING:
        return ()
    return tuple(has // unit for has, unit in zip(_amounts(node), units(node), strict=True))


def demand_of(asked: Resources, node: Resources) -> Demand:
    """Return what a pod takes of each kind on such a node, at most what the node has."""
    taken = zip(_amounts(asked), units(node), counts_of(node), strict=False)
    return tuple((min(amount // unit, has), min(-(-amount // unit), has)) for amount, unit, has in taken)


def shared_memory(member: Member, node: Resources) -> int:
    """Return the bound of a pod's shared memory on such a node, in bytes; 0 where its memory limit bounds it.

    Without a bound of its own it is half of the node's memory, in whole mebibytes, and 0 where none is declared.
    """
    return (node.memory // 2) >> 20 << 20 if member.shared_memory is None else member.shared_memory


def lacked(short: LackedUnits, node: Resources) -> LackedResource:
    """Return a shortage in units of such nodes as an amount."""
    if short.kind == PODS:
        return LackedResource("pods", short.needs, short.free)
    unit = units(node)[short.kind]
    return LackedResource(KINDS[short.kind], short.needs * unit, short.free * unit)


def lacking(engine: str, asked: Resources, node: Resources) -> Refusal | None:
    """Return why a pod that asks for so much can never run on such a node, None where it can."""
    for kind, needs, has in zip(KINDS, _amounts(asked), _amounts(node), strict=True):
        if needs and not has:
            return NodeUndeclared(engine, kind, needs)
        if needs > has:
            return NodeTooSmall(engine, kind, needs, has)
    return None
