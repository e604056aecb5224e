"""The ways to put an engine on the nodes of a pool: one for each distinct group, in the order in which they are tried.

Engines whose requests find the same on a node share one search. `stamp` puts engines on the pools that were chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from modelplane.model.deployment import Engine, Member
from modelplane.model.refusal import Refusal, SearchBound, rank
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.model.resources import NOTHING
from modelplane.scheduling.matching.demands import Node
from modelplane.scheduling.matching.match import Claims, DeviceMatch, MemberOption, match_classes, match_member
from modelplane.scheduling.pools import (
    Demand,
    Group,
    Layout,
    PoolNodes,
    count_deviceless,
    demand_of,
    group,
    lacking,
    shared_memory,
    size,
    with_nodes,
)
from modelplane.scheduling.search_budget import Meter, SearchBudget, Searches

#: Bytes of the cache of ways.
_REMEMBERED = 16 * 1024 * 1024
#: States of forming the group of one combination.
_COMBINATION = 4


@dataclass(frozen=True, slots=True, eq=False)
class PodSet:
    """Pods of a group that are alike. Options of an engine share the object, which makes look-ups fast."""

    demand: Demand
    pods: int


@dataclass(frozen=True, slots=True, eq=False)
class EngineOption:
    """What the members of an engine can claim on the nodes of a pool, and the group that their pods form there.

    `pod_sets` are the pods of the group that need a node of their own, `size` is their number, and `deviceless` is the
    number of pods that take no device.
    """

    claims: tuple[Claims, ...]
    group: Group
    pod_sets: tuple[PodSet, ...]
    size: int = field(init=False)
    deviceless: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", size(self.group))
        object.__setattr__(self, "deviceless", count_deviceless(((self.group, 1),) if self.group else ()))

    @property
    def claiming(self) -> tuple[bool, ...]:
        """Return, for each member, whether it claims anything."""
        return tuple(map(bool, self.claims))


@dataclass(frozen=True, slots=True, eq=False)
class EngineWays:
    """The options for an engine on hardware, in order, and which members can claim at all.

    `refusal` is why there are none, with the index of its member; it is not yet completed by the devices.
    """

    options: tuple[EngineOption, ...] = ()
    could_claim: tuple[bool, ...] = ()
    refusal: tuple[int, Refusal] | None = None


class PoolOption(NamedTuple):
    """An option for an engine, on the pool at `position` of the layout."""

    position: int
    option: EngineOption


#: The options for an engine on each pool that has any, in the order in which they are tried.
OptionsByPool = tuple[tuple[int, tuple[EngineOption, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterWays:
    """For each engine of a profile, in order: its options on the pools of a cluster. Equal clusters share the value."""

    by_pool: tuple[OptionsByPool, ...]

    def of(self, at: int) -> Iterator[PoolOption]:
        """Yield the options for an engine in the order in which they are tried."""
        return (PoolOption(position, option) for position, options in self.by_pool[at] for option in options)


def combine(
    engine: Engine, members: Sequence[Sequence[MemberOption]], devices: int, meter: Meter
) -> tuple[EngineOption, ...]:
    """Return the options for an engine, in order; of options with one group and the same claiming members, the first.

    `devices` is the number of device entries of the nodes. Raises OutOfStatesError.
    """
    found: dict[object, EngineOption] = {}
    pod_sets: dict[tuple[Demand, int], PodSet] = {}
    for chosen in product(*members):
        meter.spend(_COMBINATION)
        pods = ((each.demand, member.pods * engine.copies) for member, each in zip(engine.members, chosen, strict=True))
        formed = group(pods, devices)
        key = formed, tuple([bool(each.claims) for each in chosen])
        if key not in found:
            shared = tuple([pod_sets.setdefault(each, PodSet(*each)) for each in with_nodes(formed)])
            found[key] = EngineOption(tuple(each.claims for each in chosen), formed, shared)
            meter.check(len(found))
    return tuple(option for option in found.values() if any(option.claiming))


def weigh_ways(found: ClusterWays) -> int:
    """Return about how many bytes the options on a cluster keep alive if nothing else references them."""
    return 500 + 500 * sum(len(each) for by_pool in found.by_pool for _, each in by_pool)


#: The DeviceClasses that each member of an engine claims.
Classes = tuple[tuple[str, ...], ...]


class WaysKey(NamedTuple):
    """All that a match depends on: which entries satisfy which request, whatever the devices are.

    `matches` are what the requests of each member find on the node. `classes` are the ones it has to claim, None for
    any.
    """

    engine: Engine
    node: Node
    matches: tuple[tuple[DeviceMatch, ...], ...]
    classes: Classes | None


def _search(key: WaysKey, meter: Meter) -> EngineWays:
    engine, node, matches, classes = key
    if classes is not None:
        return _match_classes(key, classes, meter)
    found = [
        _with_resources(match_member(engine.name, member, of_member, node, meter), engine, member, node)
        for member, of_member in zip(engine.members, matches, strict=True)
    ]
    failed = [(at, refusal) for at, refusal in enumerate(found) if isinstance(refusal, Refusal)]
    members = [() if isinstance(options, Refusal) else options for options in found]
    could_claim = tuple(any(option.claims for option in options) for options in members)
    refusal = min(failed, key=lambda each: rank(each[1])) if failed else None
    return EngineWays(combine(engine, members, len(node.counts), meter), could_claim, refusal)


def _match_classes(key: WaysKey, classes: Classes, meter: Meter) -> EngineWays:
    found = [
        _with_resources(match_classes(member, claimed, of_member, key.node, meter), key.engine, member, key.node)
        for member, claimed, of_member in zip(key.engine.members, classes, key.matches, strict=True)
    ]
    members = [() if isinstance(options, Refusal) else options for options in found]
    return EngineWays(combine(key.engine, members, len(key.node.counts), meter))


def _with_resources(
    options: tuple[MemberOption, ...] | Refusal, engine: Engine, member: Member, node: Node
) -> tuple[MemberOption, ...] | Refusal:
    """Return the options with the member's CPU and memory added, or why a node never has enough of these."""
    if isinstance(options, Refusal) or (node.resources == NOTHING and member.asked == NOTHING):
        return options
    if lacks := lacking(engine.name, member.asked, node.resources):
        return lacks
    asked = demand_of(member.asked, node.resources)
    return tuple(replace(each, demand=each.demand + asked) for each in options)


def _weigh(key: WaysKey, found: EngineWays | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: the texts of the engine, its matches, and its options."""
    texts = sum(len(text) for member in key.engine.members for request in member.requests for text in request.selectors)
    matches = sum(len(each.matching) + len(each.usable) for of_member in key.matches for each in of_member)
    options = 0 if isinstance(found, SearchBound) else len(found.options)
    return 3000 + texts + 8 * matches + options * (500 + 100 * len(key.node.counts))


MATCHES: Searches[WaysKey, EngineWays] = Searches(_REMEMBERED, _weigh)


def find_ways(key: WaysKey, budget: SearchBudget) -> EngineWays | SearchBound:
    """Return the ways of an engine, or why they were not found within the budget."""
    return MATCHES.find(key, budget, lambda meter: _search(key, meter))


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
