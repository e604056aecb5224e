"""Which assignments take a node that a gang could use whole, and leave most of it unused."""

from collections.abc import Sequence

from modelplane.model.deployment import Engine, Role
from modelplane.scheduling.hardware import Layout, PoolNodes
from modelplane.scheduling.search import Assignment
from modelplane.scheduling.ways import PoolOption


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
        any(surely >= count > 0 for (surely, _), count in zip(part.demand, counts, strict=False))
        for part in placed.option.parts
    )
    return not all(whole)
