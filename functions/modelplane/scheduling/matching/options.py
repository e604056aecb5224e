"""The options for the engines of a deployment on the pools of a cluster, regardless of room.

Every member of an engine is on one pool, at least one member claims a real device, and a member that could claim on
some pool of the cluster is not left claimless on another. Options that take the same of a pool are one: the first in
declared order.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from modelplane.catalogue import Offer, driver_selector, no_gpu, offer_of
from modelplane.cel import Outcome
from modelplane.lru import FairLru
from modelplane.model.deployment import Engine, Member, Profile
from modelplane.model.refusal import NotClaimable, Refusal, SearchBound, of_profile
from modelplane.scheduling.matching.demands import Node
from modelplane.scheduling.matching.match import DeviceMatch, explain, keys_of, match_devices
from modelplane.scheduling.matching.selectors import PassVerdicts, Verdicts
from modelplane.scheduling.matching.ways import (
    Classes,
    ClusterWays,
    EngineOption,
    EngineWays,
    OptionsByPool,
    WaysKey,
    find_ways,
    weigh_ways,
)
from modelplane.scheduling.pools import Hardware, Shape
from modelplane.scheduling.search_budget import WORDING_STATES, Meter, SearchBudget

#: The options on clusters, at most 8 MiB of them.
_ASSEMBLED: FairLru[ClusterWays] = FairLru(8 * 1024 * 1024)


@dataclass(frozen=True, slots=True, eq=False)
class EngineMatch:
    """An engine on hardware: its ways, a value shared with other hardware, or why there are none."""

    ways: EngineWays
    refusal: Refusal | None = None

    @property
    def options(self) -> tuple[EngineOption, ...]:
        """Return the options in order."""
        return self.ways.options


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The pool that came nearest to hosting an engine, and the others that are told too, by position.

    The refusals are without the pools' names; `named` caches them with the names.
    """

    position: int
    refusal: Refusal
    others: tuple[tuple[int, Refusal], ...] = ()
    named: dict[tuple[str, ...], Refusal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterOptions:
    """For each engine of a profile, in order: its options on the pools of a cluster, and why other pools have none.

    `explained` returns the refusal of an engine on a pool, completed by the devices there. `nearest` caches the pool
    that came nearest, by what a cluster lacks.
    """

    profile: str
    engines: tuple[Engine, ...]
    ways: ClusterWays
    refusals: tuple[Mapping[int, Refusal], ...]
    explained: Callable[[int, int], Refusal]
    nearest: dict[Hashable, Nearest] = field(default_factory=dict)


@lru_cache(maxsize=64)
def _without_options(could_claim: tuple[bool, ...]) -> EngineWays:
    return EngineWays((), could_claim)


@lru_cache(maxsize=256)
def _on_gpu(engine: Engine, driver: str) -> Engine:
    """Return an engine whose requests for the pool's GPUs select the devices of a driver."""

    def resolved(member: Member) -> Member:
        text = driver_selector(driver)
        requests = (replace(each, selectors=(text, *each.selectors)) if each.gpu else each for each in member.requests)
        return replace(member, requests=tuple(requests))

    return replace(engine, members=tuple(map(resolved, engine.members)))


def _target_of(engine: Engine, gpu: int | None) -> "_Target":
    selectors = tuple(text for member in engine.members for each in member.requests for text in each.selectors)
    asked = max((sum(request.count for request in member.requests) for member in engine.members), default=0)
    return _Target(engine, selectors, gpu, asked)


def _only(verdicts: Verdicts, entry: int) -> Verdicts:
    """Return the verdicts of a request for the pool's GPUs: devices of other entries do not match."""
    return tuple(
        replace(each, outcome=Outcome.NO_MATCH, selector=0) if at != entry and each.outcome is Outcome.MATCH else each
        for at, each in enumerate(verdicts)
    )


def _only_entry(matched: DeviceMatch, entry: int) -> DeviceMatch:
    """Return the match of a request for the pool's GPUs; the pod is charged with others it may get, too."""
    matching, usable = ({entry}.intersection(found) for found in (matched.matching, matched.usable))
    return DeviceMatch(tuple(matching), tuple(usable), matched.charged)


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """An engine on a kind of pool: its requests as they are stamped there, and the entry of the pool's GPU.

    `asked` is the most devices that one pod asks for. Equal targets are one value in a pass, compared by identity,
    because an engine may have hundreds of selectors.
    """

    engine: Engine
    selectors: tuple[str, ...]
    gpu: int | None
    asked: int


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """The selectors of an engine evaluated on hardware: by member and request, the verdicts and the match."""

    verdicts: tuple[tuple[Verdicts, ...], ...]
    node: Node
    matches: tuple[tuple[DeviceMatch, ...], ...]


class Options:
    """The options for the engines of a profile in one pass, within the pass's budget."""

    def __init__(self, profile: Profile, budget: SearchBudget) -> None:
        self.profile = profile.name
        self.engines = profile.engines
        self.budget = budget
        self._requires = profile.requires
        self._verdicts = PassVerdicts(budget)
        self._plain = [_target_of(engine, None) for engine in profile.engines]
        self._on_gpu: dict[tuple[int, int, str], _Target] = {}
        self._offers: dict[Hardware, Offer | Refusal] = {}
        self._evaluated: dict[tuple[_Target, Hardware], _Evaluated | SearchBound] = {}
        self._matches: dict[tuple[_Target, Hardware, Classes | None], EngineMatch] = {}
        self._explanations: dict[tuple[_Target, Hardware], Refusal] = {}
        self._clusters: dict[Shape, ClusterOptions] = {}
        self._wording = Meter(WORDING_STATES)

    def match(self, at: int, hardware: Hardware) -> EngineMatch:
        """Return the options for an engine on hardware."""
        found = self._found(at, hardware)
        return EngineMatch(found.ways, self._explained(at, hardware)) if found.ways.refusal else found

    def match_classes(self, at: int, hardware: Hardware, classes: Classes) -> EngineMatch:
        """Return the options for an engine on hardware that claim exactly these classes."""
        return self._found(at, hardware, classes)

    def _found(self, at: int, hardware: Hardware, classes: Classes | None = None) -> EngineMatch:
        """Return the options for an engine on hardware; a refusal is not yet completed by the devices."""
        target = self._target(at, hardware)
        if isinstance(target, Refusal):
            ways = _without_options((False,) * len(self.engines[at].members))
            return EngineMatch(ways, of_profile(target, self.profile))
        read = self._verdicts.read(target.selectors, hardware, target.asked)
        found = self._matches.get((target, read, classes))
        if found is None:
            found = self._matches[target, read, classes] = self._match(target, read, classes)
        return found

    def _target(self, at: int, hardware: Hardware) -> _Target | Refusal:
        """Return an engine as it is matched to a pool, or which requirement of the profile the pool does not meet."""
        if self._requires is None:
            return self._plain[at]
        offer = self._offers.get(hardware)
        if offer is None:
            offer = offer_of(self._requires, hardware.devices, hardware.capabilities)
            self._offers[hardware] = offer
        if isinstance(offer, Refusal):
            return offer
        if not any(each.gpu for member in self.engines[at].members for each in member.requests):
            return self._plain[at]
        if offer.gpu is None:
            return no_gpu()
        key = at, offer.gpu, hardware.devices[offer.gpu].driver
        target = self._on_gpu.get(key)
        if target is None:
            target = self._on_gpu[key] = _target_of(_on_gpu(self.engines[at], key[2]), offer.gpu)
        return target

    def _match(self, target: _Target, hardware: Hardware, classes: Classes | None) -> EngineMatch:
        engine = target.engine
        evaluated = self._evaluated.get((target, hardware))
        if evaluated is None:
            evaluated = self._evaluated[target, hardware] = self._evaluate(target, hardware)
        if isinstance(evaluated, SearchBound):
            return self._undecided(engine, evaluated)
        found = find_ways(WaysKey(engine, evaluated.node, evaluated.matches, classes), self.budget)
        if isinstance(found, SearchBound):
            return self._undecided(engine, found)
        return EngineMatch(found, of_profile(found.refusal[1], self.profile) if found.refusal else None)

    def _undecided(self, engine: Engine, bound: SearchBound) -> EngineMatch:
        """Return the match of an undecided engine: every member with device requests may be able to claim."""
        ways = _without_options(tuple(bool(member.requests) for member in engine.members))
        return EngineMatch(ways, of_profile(bound, self.profile))

    def _explained(self, at: int, hardware: Hardware) -> Refusal | None:
        """Return why there are no options for an engine, completed by the devices.

        Evaluates conditions one by one, within `WORDING_STATES` of a pass, so only for what may be reported.
        """
        found, target = self._found(at, hardware), self._target(at, hardware)
        if found.ways.refusal is None or isinstance(target, Refusal):
            return found.refusal
        selectors = target.selectors
        read = self._verdicts.read(selectors, hardware, target.asked)
        shown = hardware if self._fails(target, read) else self._verdicts.shown(selectors, hardware)
        known = self._explanations.get((target, shown))
        if known is None:
            (member, refusal), evaluated = found.ways.refusal, self._evaluated[target, read]
            if isinstance(evaluated, _Evaluated):
                by_request = tuple(zip(evaluated.matches[member], evaluated.verdicts[member], strict=True))
                refusal = explain(refusal, target.engine.members[member], by_request, shown, self._wording)
            known = self._explanations[target, shown] = of_profile(refusal, self.profile)
        return known

    def _fails(self, target: _Target, read: Hardware) -> bool:
        """Tell whether a selector fails with an error on a device: then the whole device is needed to explain it."""
        evaluated = self._evaluated[target, read]
        verdicts = evaluated.verdicts if isinstance(evaluated, _Evaluated) else ()
        return any(each.outcome is Outcome.ERROR for of_member in verdicts for found in of_member for each in found)

    def _evaluate(self, target: _Target, hardware: Hardware) -> _Evaluated | SearchBound:
        """Evaluate the selectors of an engine on hardware that is narrowed to the devices that a pod asks for."""
        keys, engine = keys_of(hardware), target.engine
        verdicts, matches = [], []
        for member in engine.members:
            of_member, of_requests = [], []
            for request in member.requests:
                found = self._verdicts.on(request.selectors, hardware)
                if isinstance(found, SearchBound):
                    return found
                only = target.gpu if request.gpu else None
                of_member.append(found if only is None else _only(found, only))
                matched = match_devices(found, keys)
                of_requests.append(matched if only is None else _only_entry(matched, only))
            verdicts.append(tuple(of_member))
            matches.append(tuple(of_requests))
        node = Node(hardware.counts, keys, hardware.node)
        return _Evaluated(tuple(verdicts), node, tuple(matches))

    def on(self, shape: Shape) -> ClusterOptions:
        """Return the options on pools of this shape; pools without nodes are included, and never have room."""
        found = self._clusters.get(shape)
        if found is None:
            matches = tuple(tuple(self._found(at, each) for _, each in shape) for at in range(len(self.engines)))
            hosts = tuple(hosting for hosting, _ in shape)
            of_ways = tuple(tuple(match.ways for match in of_engine) for of_engine in matches)

            def make() -> tuple[ClusterWays, int]:
                made = ClusterWays(tuple(_by_pool(hosts, of_engine) for of_engine in of_ways))
                return made, weigh_ways(made)

            ways = _ASSEMBLED.get((hosts, of_ways), make)
            refusals = tuple(map(self._refusals, self.engines, matches, ways.by_pool))

            def explained(at: int, position: int) -> Refusal:
                return self._explained(at, shape[position][1]) or refusals[at][position]

            found = self._clusters[shape] = ClusterOptions(self.profile, self.engines, ways, refusals, explained)
        return found

    def _refusals(
        self, engine: Engine, matches: tuple[EngineMatch, ...], by_pool: OptionsByPool
    ) -> Mapping[int, Refusal]:
        """Return why there is no option for an engine on the other pools."""
        here = {position for position, _ in by_pool}
        not_claimable = NotClaimable(engine.name, profile=self.profile)
        return {at: match.refusal or not_claimable for at, match in enumerate(matches) if at not in here}


def _by_pool(hosts: tuple[bool, ...], of_engine: tuple[EngineWays, ...]) -> OptionsByPool:
    hosting = [ways.could_claim for ways, has_nodes in zip(of_engine, hosts, strict=True) if has_nodes]
    must_claim = [any(claiming) for claiming in zip(*hosting, strict=True)]
    options = (tuple(each for each in ways.options if _claims_enough(each, must_claim)) for ways in of_engine)
    return tuple((position, of_pool) for position, of_pool in enumerate(options) if of_pool)


def _claims_enough(option: EngineOption, must_claim: Sequence[bool]) -> bool:
    """Tell whether every member claims that could claim on some pool of the cluster with nodes."""
    return all(claims or not must for claims, must in zip(option.claiming, must_claim, strict=False))
