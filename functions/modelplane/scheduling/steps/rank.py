"""What ranks clusters beside spread: whether an assignment takes a gang's node, and how capable its devices are.

Capability is measured by declared memory, the one capacity that all devices have.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from modelplane.catalogue import amount, declared_memory
from modelplane.model.deployment import Engine, Role
from modelplane.model.fleet import Device
from modelplane.scheduling.matching import PoolOption
from modelplane.scheduling.pools import Layout, PoolNodes
from modelplane.scheduling.room import Assignment, Engines, entries_of


def is_for_gangs(pool: PoolNodes) -> bool:
    """Tell whether engines may span several nodes of a pool.

    Where its capabilities do not say so, its nodes have devices of several drivers: network devices beside the GPUs.
    """
    capabilities = pool.hardware.capabilities
    declared = capabilities.multi_node if capabilities else None
    fabric = len({device.driver for device in pool.hardware.devices}) > 1
    return pool.nodes > 1 and (fabric if declared is None else declared)


def takes_gang_node(engines: Sequence[Engine], chosen: Assignment, where: Layout) -> bool:
    """Tell whether an engine on one node takes a part of a node of a pool for gangs."""
    return any(_takes_part(engine, option, where) for engine, option in zip(engines, chosen, strict=True))


def _takes_part(engine: Engine, placed: PoolOption, where: Layout) -> bool:
    pool = where.pools[placed.position]
    if not is_for_gangs(pool) or any(member.role is Role.WORKER for member in engine.members):
        return False
    counts = pool.hardware.counts
    whole = (
        any(surely >= count > 0 for (surely, _), count in zip(pods.demand, counts, strict=False))
        for pods in placed.option.pod_sets
    )
    return not all(whole)


def _memory(devices: Sequence[Device]) -> str | None:
    """Return the declared memory of devices that all have the same, as one of them writes it; None if they differ."""
    found = {declared_memory(device) or "" for device in devices}
    alike = len(found) == 1 or len(set(map(amount, found))) == 1
    text = min(found) if alike else ""
    return text if amount(text) is not None else None


def capability(engines: Engines, where: Layout) -> Fraction | None:
    """Return the total memory, in bytes, of the devices that engines take on a cluster, None where it is not known.

    It is not known of a claim that devices of different memory satisfy: it may get either.
    """
    taken: Counter[str] = Counter()
    for engine in engines:
        for member in engine.members:
            position = where.positions.get(member.pool)
            if position is None or member.whole_nodes:
                return None
            hardware = where.pools[position].hardware
            for claim in member.claims:
                memory = _memory([hardware.devices[entry] for entry in entries_of(claim, hardware)])
                if memory is None:
                    return None
                taken[memory] += claim.count * member.pods * engine.copies
    # Devices are counted first, because adding fractions is slow.
    amounts = ((amount(memory), count) for memory, count in taken.items())
    return sum((each * count for each, count in amounts if each is not None), Fraction(0))
