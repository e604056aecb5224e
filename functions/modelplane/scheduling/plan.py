"""The ways in which a deployment's engines can stand on the pools of a cluster, whatever the room.

Every member of an engine is on one pool, at least one member claims a real device, and a member that could claim on
some pool of the cluster is not left claimless on another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from modelplane.model.deployment import Engine
from modelplane.model.refusal import NotClaimable, Refusal, rank
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.scheduling.charge import group
from modelplane.scheduling.hardware import Hardware
from modelplane.scheduling.match import CACHE_SIZE, Claims, match_member
from modelplane.scheduling.room import Group

#: The pools of a cluster: name, whether it has nodes at all, hardware.
Shape = tuple[tuple[str, bool, Hardware], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way to put an engine on the pool at `site`: what its members claim there, and the group they form."""

    site: int
    engine: StampedEngine
    group: Group


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Per engine, in order: its ways in the order in which they are tried, and why the other pools are none."""

    engines: tuple[Engine, ...]
    ways: tuple[tuple[Way, ...], ...]
    refusals: tuple[Mapping[int, Refusal], ...]


@lru_cache(maxsize=CACHE_SIZE)
def stand(engine: Engine, pool: str, site: int, claims: tuple[Claims, ...], hardware: Hardware) -> Way:
    """Return the engine stamped on a pool with these claims of its members."""
    members = tuple(
        StampedMember(member.role, pool, member.pods, claimed)
        for member, claimed in zip(engine.members, claims, strict=True)
    )
    pods = tuple((member.claims, member.pods * engine.copies) for member in members)
    return Way(site, StampedEngine(engine.name, members, engine.copies), group(pods, hardware))


def _engine_ways(engine: Engine, shape: Shape) -> tuple[list[Way], dict[int, Refusal]]:
    matched: dict[int, list[tuple[Claims, ...]]] = {}
    refused: dict[int, Refusal] = {}
    for site, (_, _, hardware) in enumerate(shape):
        found = [match_member(engine.name, member, hardware) for member in engine.members]
        failed = [ways for ways in found if isinstance(ways, Refusal)]
        if failed:
            refused[site] = min(failed, key=rank)
        matched[site] = [ways if isinstance(ways, tuple) else () for ways in found]
    could_claim = [
        any(any(matched[site][at]) for site, (_, hosts, _) in enumerate(shape) if hosts)
        for at in range(len(engine.members))
    ]
    ways: list[Way] = []
    for site, (pool, _, hardware) in enumerate(shape):
        options = [[c for c in of if c or not could] for of, could in zip(matched[site], could_claim, strict=True)]
        found_here = [stand(engine, pool, site, chosen, hardware) for chosen in product(*options)]
        found_here = [way for way in found_here if way.group]
        if not found_here:
            refused.setdefault(site, NotClaimable(engine.name))
        ways.extend(found_here)
    return ways, refused


@lru_cache(maxsize=CACHE_SIZE)
def plan(engines: tuple[Engine, ...], shape: Shape) -> Plan:
    """Return the ways of each engine on pools of this shape. A pool without nodes is in it, and has never room."""
    found = [_engine_ways(engine, shape) for engine in engines]
    return Plan(engines, tuple(tuple(ways) for ways, _ in found), tuple(refused for _, refused in found))
