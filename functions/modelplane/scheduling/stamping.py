"""Stamps engines on the pools that were chosen for them."""

from collections.abc import Sequence

from modelplane.model.deployment import Engine
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.scheduling.hardware import Layout, PoolNodes
from modelplane.scheduling.match import Claims
from modelplane.scheduling.node_resources import shared_memory
from modelplane.scheduling.ways import PoolOption


def _stamp_on_pool(engine: Engine, pool: PoolNodes, claims: Sequence[Claims]) -> StampedEngine:
    """Return the engine stamped on a pool with these claims of its members."""
    members = tuple(
        StampedMember(
            member.role,
            pool.name,
            member.pods,
            claimed,
            tolerations=pool.tolerations,
            asked=member.asked,
            shared_memory=shared_memory(member, pool.hardware.node),
        )
        for member, claimed in zip(engine.members, claims, strict=True)
    )
    return StampedEngine(engine.name, members, engine.copies)


def stamp(engines: Sequence[Engine], chosen: Sequence[PoolOption], layout: Layout) -> tuple[StampedEngine, ...]:
    """Return the engines stamped on the pools that were chosen."""
    return tuple(
        _stamp_on_pool(engine, layout.pools[each.position], each.option.claims)
        for engine, each in zip(engines, chosen, strict=True)
    )
