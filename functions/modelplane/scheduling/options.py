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
from modelplane.model.deployment import Engine, Profile
from modelplane.model.refusal import NotClaimable, Refusal, SearchBound, of_profile, rank
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.scheduling.budget import Budget, Meter, Searches
from modelplane.scheduling.charge import group
from modelplane.scheduling.groups import Group
from modelplane.scheduling.hardware import Hardware, Layout, Shape
from modelplane.scheduling.match import Claims, MemberOption, match_classes, match_member

#: Bytes of what is remembered of engines on hardware, and of the options on clusters.
_REMEMBERED = 16 * 1024 * 1024
_CLUSTERS = 8 * 1024 * 1024

#: The DeviceClasses that each member of an engine claims.
Classes = tuple[tuple[str, ...], ...]
#: A profile's name, one of its engines, the hardware, and the classes that it has to claim, None for any.
_Key = tuple[str, Engine, Hardware, Classes | None]


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
    """Per engine of a profile, in order: its options on the pools of a cluster, and why other pools have none."""

    profile: str
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


def _match(key: _Key, meter: Meter) -> EngineMatch:
    profile, engine, hardware, _ = key
    found = [match_member(engine.name, member, hardware, meter) for member in engine.members]
    failed = [refusal for refusal in found if isinstance(refusal, Refusal)]
    members = [() if isinstance(options, Refusal) else options for options in found]
    could_claim = tuple(any(option.claims for option in options) for options in members)
    refusal = of_profile(min(failed, key=rank), profile) if failed else None
    return EngineMatch(engine, _combine(engine, members, meter), could_claim, refusal)


def _match_classes(engine: Engine, hardware: Hardware, classes: Classes, meter: Meter) -> EngineMatch:
    members = [
        match_classes(member, claimed, hardware, meter) for member, claimed in zip(engine.members, classes, strict=True)
    ]
    return EngineMatch(engine, _combine(engine, members, meter))


def _weigh(key: _Key, found: EngineMatch | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: the texts of the engine, and its options."""
    _, engine, hardware, _ = key
    texts = sum(len(text) for member in engine.members for request in member.requests for text in request.selectors)
    options = 0 if isinstance(found, SearchBound) else len(found.options)
    return 2000 + texts + options * (500 + 100 * len(hardware.counts))


def weigh_options(found: ClusterOptions) -> int:
    """Return about how many bytes the options on a cluster keep alive, where nothing else keeps them."""
    return 500 + 500 * sum(len(each) for by_pool in found.by_pool for _, each in by_pool)


MATCHES: Searches[_Key, EngineMatch] = Searches(_REMEMBERED, _weigh)
_ASSEMBLED: Lru[ClusterOptions] = Lru(_CLUSTERS)


class Options:
    """The options for the engines of a profile in one pass, within the pass's budget."""

    def __init__(self, profile: Profile, budget: Budget) -> None:
        self.profile = profile.name
        self.engines = profile.engines
        self.budget = budget
        self._matches: dict[tuple[int, Hardware], EngineMatch] = {}
        self._clusters: dict[Shape, ClusterOptions] = {}

    def match(self, at: int, hardware: Hardware) -> EngineMatch:
        """Return the options for an engine on hardware."""
        found = self._matches.get((at, hardware))
        if found is None:
            engine = self.engines[at]
            key = self.profile, engine, hardware, None
            looked = MATCHES.find(key, self.budget, lambda meter: _match(key, meter))
            found = self._matches[at, hardware] = _decided(key, looked)
        return found

    def match_classes(self, at: int, hardware: Hardware, classes: Classes) -> EngineMatch:
        """Return the options for an engine on hardware that claim exactly these classes."""
        engine = self.engines[at]
        key = self.profile, engine, hardware, classes
        looked = MATCHES.find(key, self.budget, lambda meter: _match_classes(engine, hardware, classes, meter))
        return _decided(key, looked)

    def on(self, shape: Shape) -> ClusterOptions:
        """Return the options on pools of this shape. A pool without nodes is in it, and has never room."""
        found = self._clusters.get(shape)
        if found is None:
            matches = tuple(tuple(self.match(at, each) for _, each in shape) for at in range(len(self.engines)))
            hosts = tuple(hosting for hosting, _ in shape)
            key = self.profile, hosts, matches

            def make() -> tuple[ClusterOptions, int]:
                options = _assemble(self.profile, self.engines, hosts, matches)
                return options, weigh_options(options)

            found = self._clusters[shape] = _ASSEMBLED.get(key, make)
        return found


def _decided(key: _Key, found: EngineMatch | SearchBound) -> EngineMatch:
    """Return the match; of one that was not decided any member that requests devices could claim some."""
    if isinstance(found, EngineMatch):
        return found
    profile, engine, _, _ = key
    could_claim = tuple(bool(member.requests) for member in engine.members)
    return EngineMatch(engine, (), could_claim, of_profile(found, profile))


def _assemble(
    profile: str, engines: tuple[Engine, ...], hosts: tuple[bool, ...], matches: tuple[tuple[EngineMatch, ...], ...]
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
                refused[position] = match.refusal or NotClaimable(match.engine.name, profile=profile)
        by_pool.append(tuple(here))
        refusals.append(refused)
    return ClusterOptions(profile, engines, tuple(by_pool), tuple(refusals))


def _claims_enough(option: EngineOption, must_claim: Sequence[bool]) -> bool:
    """Tell whether no member is left claimless that could claim on some pool of the cluster that has nodes."""
    return all(claims or not must for claims, must in zip(option.claiming, must_claim, strict=False))
