"""The options for the engines of a deployment on the pools of a cluster, whatever the room there.

Every member of an engine is on one pool, at least one member claims a real device, and a member that could claim on
some pool of the cluster is not left claimless on another. Options that take the same of a pool are one: the first in
declared order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from modelplane.lru import Lru
from modelplane.model.deployment import Engine
from modelplane.model.refusal import NotClaimable, Refusal, SearchBound, rank
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.scheduling.budget import Budget, Meter, Searches
from modelplane.scheduling.charge import group
from modelplane.scheduling.hardware import Hardware, Layout, Shape
from modelplane.scheduling.match import Claims, MemberOption, match_classes, match_member
from modelplane.scheduling.room import Group

#: Bytes of what is remembered of engines on hardware, and clusters of which the options are.
_REMEMBERED = 32 * 1024 * 1024
_CLUSTERS = 4096

#: The DeviceClasses that each member of an engine claims.
Classes = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class EngineOption:
    """What the members of an engine can claim on the nodes of a pool, and the group that their pods form there."""

    claims: tuple[Claims, ...]
    group: Group

    @property
    def claiming(self) -> tuple[bool, ...]:
        """Return of each member whether it claims anything."""
        return tuple(map(bool, self.claims))


@dataclass(frozen=True, slots=True, eq=False)
class EngineMatch:
    """An engine on hardware: its options in order, or why there are none, and which members could claim at all."""

    engine: Engine
    options: tuple[EngineOption, ...] = ()
    could_claim: tuple[bool, ...] = ()
    refusal: Refusal | None = None


class PoolOption(NamedTuple):
    """An option for an engine, on the pool at `position` of the layout."""

    position: int
    option: EngineOption


#: The options for an engine on each pool that has any, in the order in which they are tried.
OptionsByPool = tuple[tuple[int, tuple[EngineOption, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterOptions:
    """Per engine, in order: its options on the pools of a cluster, and why other pools have none."""

    engines: tuple[Engine, ...]
    by_pool: tuple[OptionsByPool, ...]
    refusals: tuple[Mapping[int, Refusal], ...]

    def of(self, at: int) -> Iterator[PoolOption]:
        """Yield the options for an engine in the order in which they are tried."""
        return (PoolOption(position, option) for position, options in self.by_pool[at] for option in options)


def stamp_on_pool(engine: Engine, pool: str, claims: Sequence[Claims]) -> StampedEngine:
    """Return the engine stamped on a pool with these claims of its members."""
    members = tuple(
        StampedMember(member.role, pool, member.pods, claimed)
        for member, claimed in zip(engine.members, claims, strict=True)
    )
    return StampedEngine(engine.name, members, engine.copies)


def stamp(engines: Sequence[Engine], chosen: Sequence[PoolOption], layout: Layout) -> tuple[StampedEngine, ...]:
    """Return the engines stamped on the pools that were chosen."""
    return tuple(
        stamp_on_pool(engine, layout.pools[each.position].name, each.option.claims)
        for engine, each in zip(engines, chosen, strict=True)
    )


def _combine(engine: Engine, members: Sequence[Sequence[MemberOption]], meter: Meter) -> tuple[EngineOption, ...]:
    """Return the options for an engine, in order: of one group with the same members that claim only the first."""
    found: dict[object, EngineOption] = {}
    for chosen in product(*members):
        meter.spend()
        pods = ((each.demand, member.pods * engine.copies) for member, each in zip(engine.members, chosen, strict=True))
        option = EngineOption(tuple(each.claims for each in chosen), group(pods))
        found.setdefault((option.group, option.claiming), option)
        meter.check(len(found))
    return tuple(option for option in found.values() if option.group)


def _match(engine: Engine, hardware: Hardware, meter: Meter) -> EngineMatch:
    found = [match_member(engine.name, member, hardware, meter) for member in engine.members]
    failed = [refusal for refusal in found if isinstance(refusal, Refusal)]
    members = [() if isinstance(options, Refusal) else options for options in found]
    could_claim = tuple(any(option.claims for option in options) for options in members)
    refusal = min(failed, key=rank) if failed else None
    return EngineMatch(engine, _combine(engine, members, meter), could_claim, refusal)


def _match_classes(engine: Engine, hardware: Hardware, classes: Classes, meter: Meter) -> EngineMatch:
    members = [
        match_classes(member, claimed, hardware, meter) for member, claimed in zip(engine.members, classes, strict=True)
    ]
    return EngineMatch(engine, _combine(engine, members, meter))


def _weigh(key: tuple[Engine, Hardware, Classes | None], found: EngineMatch | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: the texts of the engine, and its options."""
    engine, hardware, _ = key
    texts = sum(len(text) for member in engine.members for request in member.requests for text in request.selectors)
    options = 0 if isinstance(found, SearchBound) else len(found.options)
    return 2000 + texts + options * (500 + 100 * len(hardware.counts))


MATCHES: Searches[tuple[Engine, Hardware, Classes | None], EngineMatch] = Searches(_REMEMBERED, _weigh)
_ASSEMBLED: Lru[ClusterOptions] = Lru(_CLUSTERS)


class Options:
    """The options for the engines of a deployment in one pass, within the pass's budget."""

    def __init__(self, engines: tuple[Engine, ...], budget: Budget) -> None:
        self.engines = engines
        self.budget = budget
        self._matches: dict[tuple[int, Hardware], EngineMatch] = {}
        self._clusters: dict[Shape, ClusterOptions] = {}

    def match(self, at: int, hardware: Hardware) -> EngineMatch:
        """Return the options for an engine on hardware."""
        found = self._matches.get((at, hardware))
        if found is None:
            engine = self.engines[at]
            looked = MATCHES.find((engine, hardware, None), self.budget, lambda meter: _match(engine, hardware, meter))
            found = self._matches[at, hardware] = _decided(engine, looked)
        return found

    def match_classes(self, at: int, hardware: Hardware, classes: Classes) -> EngineMatch:
        """Return the options for an engine on hardware that claim exactly these classes."""
        engine = self.engines[at]
        key = engine, hardware, classes
        looked = MATCHES.find(key, self.budget, lambda meter: _match_classes(engine, hardware, classes, meter))
        return _decided(engine, looked)

    def on(self, shape: Shape) -> ClusterOptions:
        """Return the options on pools of this shape. A pool without nodes is in it, and has never room."""
        found = self._clusters.get(shape)
        if found is None:
            matches = tuple(tuple(self.match(at, each) for _, each in shape) for at in range(len(self.engines)))
            hosts = tuple(hosting for hosting, _ in shape)
            found = _ASSEMBLED.get((hosts, matches), lambda: (_assemble(self.engines, hosts, matches), 1))
            self._clusters[shape] = found
        return found


def _decided(engine: Engine, found: EngineMatch | SearchBound) -> EngineMatch:
    """Return the match; of one that was not decided any member that requests devices could claim some."""
    if isinstance(found, EngineMatch):
        return found
    return EngineMatch(engine, (), tuple(bool(member.requests) for member in engine.members), found)


def _assemble(
    engines: tuple[Engine, ...], hosts: tuple[bool, ...], matches: tuple[tuple[EngineMatch, ...], ...]
) -> ClusterOptions:
    by_pool, refusals = [], []
    for of_engine in matches:
        hosting = [match.could_claim for match, has_nodes in zip(of_engine, hosts, strict=True) if has_nodes]
        must_claim = [any(claiming) for claiming in zip(*hosting, strict=True)]
        here = []
        refused: dict[int, Refusal] = {}
        for position, match in enumerate(of_engine):
            options = tuple(option for option in match.options if _claims_enough(option, must_claim))
            if options:
                here.append((position, options))
            else:
                refused[position] = match.refusal or NotClaimable(match.engine.name)
        by_pool.append(tuple(here))
        refusals.append(refused)
    return ClusterOptions(engines, tuple(by_pool), tuple(refusals))


def _claims_enough(option: EngineOption, must_claim: Sequence[bool]) -> bool:
    """Tell whether no member is left claimless that could claim on some pool of the cluster that has nodes."""
    return all(claims or not must for claims, must in zip(option.claiming, must_claim, strict=False))
