"""Assigns the engines of a replica to the pools of one cluster: an exact search for the first assignment with room."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from modelplane.catalogue import shortness
from modelplane.model.refusal import (
    CapabilityShort,
    Closest,
    NodeTooSmall,
    NoDevice,
    NoRoom,
    NotMultiNode,
    Refusal,
    SearchBound,
    TooFewDevices,
    of_profile,
    rank,
)
from modelplane.scheduling.matching import ClusterOptions, ClusterWays, Nearest, PoolOption, weigh_ways
from modelplane.scheduling.pools import Charge, Layout, Shape, Sizes, join, lacked, size, weigh_groups
from modelplane.scheduling.room.blocking import Shortage
from modelplane.scheduling.room.hosting import Hosting, with_placed
from modelplane.scheduling.room.lacking import find_lacked
from modelplane.scheduling.room.room import more, room_states, shortage, shortage_of
from modelplane.scheduling.room.rounding import rounded
from modelplane.scheduling.search_budget import Meter, OutOfStatesError, SearchBudget, Searches

Assignment = tuple[PoolOption, ...]
#: The assignments that further replicas take in turn, each with the number of replicas; never empty.
Fits = tuple[tuple[Assignment, int], ...]
#: All that a search depends on: clusters with equal keys are searched once.
_Key = tuple[ClusterWays, Sizes, Charge]

#: Bytes of cached results; every cluster is asked for its count.
_REMEMBERED = 16 * 1024 * 1024
#: Options of a pool that are checked for how many nodes they lack; more of them would only refine a number in a
#: message.
#: Where groups are rounded that number is rough anyway, and the first option is enough.
_ASKED = 8
#: States for counting further replicas of several engines once the first one has a place: the proof that no other has
#: one may take any number.
_COUNTED = 4_000
_COUNTED_OF_ONE = 20_000


class Lack(NamedTuple):
    """The engine that finds no place, and what each pool with options for it lacks, by the pool's position."""

    engine: int
    of_pools: tuple[tuple[int, Shortage], ...]


class _Search:
    """One search over the engines and their options, both in order.

    It takes the first option that has room, and where a later engine then finds no place, the first option that leaves
    room for all later engines. Room only shrinks as engines are added, so no decision is taken back.
    """

    def __init__(self, ways: ClusterWays, sizes: Sizes, meter: Meter) -> None:
        self.ways = ways
        self.sizes = sizes
        self.meter = meter
        self.hosting = Hosting(ways, sizes, meter)
        #: The engine that found no place after the ones before it took their first option with room, and the charge
        #: then.
        self.stuck: tuple[int, Charge] = (0, ())

    def run(self, charge: Charge) -> Assignment | None:
        """Return the first assignment that has room, None when none has. Raises OutOfStatesError."""
        if not all(self.ways.by_pool):
            return None
        found = self._take(charge, lambda _at, _after: True)
        if found is None and self.stuck[0] and self.hosting.can_follow(0, charge):
            found = self._take(charge, self.hosting.can_follow)
        return found

    def _take(self, charge: Charge, good: Callable[[int, Charge], bool]) -> Assignment | None:
        chosen: list[PoolOption] = []
        for at in range(len(self.ways.by_pool)):
            self.stuck = at, charge
            for option in self.hosting.fitting(at, charge):
                after = self.hosting.place(charge, option)
                if good(at + 1, after):
                    chosen.append(option)
                    charge = after
                    break
            else:
                return None
        return tuple(chosen)

    def lack(self, charge: Charge) -> Lack:
        """Return why there is no assignment, after `run` has found none.

        It is what the first engine lacks that no pool hosts even without the others; where each engine alone finds
        room, what the engine lacks that finds none beside the others.
        """
        if len(self.ways.by_pool) == 1:
            return self._lack_of(charge, 0)
        for at in range(len(self.ways.by_pool)):
            if next(self.hosting.fitting(at, charge), None) is None:
                return self._lack_of(charge, at)
        return self._lack_of(self.stuck[1], self.stuck[0])

    def _lack_of(self, charge: Charge, at: int) -> Lack:
        """Return what an engine lacks beside the charge."""
        shortages = []
        for position, options in self.ways.by_pool[at]:
            nodes, counts, _ = self.sizes.pools[position]
            few = not rounded(nodes, counts, charge[position]).classes
            asked = [PoolOption(position, option) for option in options[: _ASKED if few else 1]]
            found = (_shortage(self.sizes, charge, option) for option in asked)
            shortages.append((position, min(found, key=lambda short: short.needs - short.free)))
            # The groups beside each option are compared twice, which is cheap where they are few.
            self.meter.add(2 * len(asked) * (room_states(nodes, counts, charge[position]) - 1))
        return Lack(at, tuple(shortages))


def _refusal(lack: Lack, options: ClusterOptions, layout: Layout) -> Refusal:
    """Return the refusal of the pool that came nearest to hosting the engine that found no place.

    Clusters of one shape with the same lack share the refusal, except for the pool's name.
    """
    found = options.nearest.get(lack)
    if found is None:
        found = options.nearest[lack] = _nearest(lack, options, layout.shape)
    names = tuple(layout.pools[position].name for position in (found.position, *(at for at, _ in found.others)))
    if names not in found.named:
        others = (replace(each, pool=name) for name, (_, each) in zip(names[1:], found.others, strict=True))
        found.named[names] = replace(found.refusal, pool=names[0], others=tuple(others))
    return found.named[names]


def _nearest(lack: Lack, options: ClusterOptions, shape: Shape) -> Nearest:
    """Return the pool that came nearest; with the others if no pool satisfies what the profile requires."""
    engine, refusals = options.engines[lack.engine].name, dict(options.refusals[lack.engine])
    for position, short in lack.of_pools:
        of_node = lacked(short.lacked, shape[position][1].node) if short.lacked else None
        refusals[position] = NoRoom(engine, short.needs, short.free, of_node, profile=options.profile)
    latest = max(map(rank, refusals.values()))
    tied = {position: refusal for position, refusal in refusals.items() if rank(refusal) == latest}
    if not isinstance(next(iter(tied.values())), NoRoom):
        tied = {position: options.explained(lack.engine, position) for position in tied}
    nearest = min(sorted(tied), key=lambda position: _distance(tied[position]))
    told = isinstance(tied[nearest], CapabilityShort | NotMultiNode)
    others = tuple(each for each in sorted(refusals.items()) if told and each[0] != nearest)
    return Nearest(nearest, tied[nearest], others)


def _distance(refusal: Refusal) -> tuple[object, ...]:
    """Return how far a pool is from hosting, to be compared with pools that are refused for the same reason."""
    match refusal:
        case NoRoom(_, needs, has) | TooFewDevices(_, _, has, needs):
            return (needs - has,)
        case NodeTooSmall(_, kind, needs, has):
            return (kind, needs - has)
        case CapabilityShort():
            return shortness(refusal)
        case NoDevice(closest=Closest(nearness=nearness)):
            return (0, *(-each for each in nearness.rank))
        case NoDevice():
            return (1,)
        case _:
            return ()


def _shortage(sizes: Sizes, charge: Charge, placed: PoolOption) -> Shortage:
    """Return what the pool lacks: nodes for the engine itself, or for a group that it would strand."""
    (nodes, counts, slots), group = sizes.pools[placed.position], placed.option.group
    after = join(charge[placed.position], group)
    own = shortage_of(nodes, counts, after, group, slots)
    short = own or shortage(nodes, counts, after, slots) or Shortage(size(group), nodes)
    return replace(short, lacked=find_lacked(sizes, charge, placed))


def _weigh(key: _Key, _found: object) -> int:
    """Return about how many bytes an entry keeps alive, without the options, which it shares with other entries."""
    _, sizes, charge = key
    here = zip(sizes.pools, charge, strict=True)
    return 256 + sum([128 + weigh_groups(len(counts), groups) for (_, counts, _), groups in here])


def _weigh_fits(key: _Key, found: Fits | Lack | SearchBound) -> int:
    assignments = 0 if isinstance(found, Lack | SearchBound) else len(found)
    return _weigh(key, found) + (256 + 96 * len(key[0].by_pool)) * assignments


def _share(key: _Key) -> tuple[ClusterWays, int]:
    """Return the options, which every entry of a deployment keeps alive, and their bytes."""
    return key[0], weigh_ways(key[0])


ASSIGNMENTS: Searches[_Key, Assignment | Lack] = Searches(_REMEMBERED, _weigh, _share)
COUNTS: Searches[_Key, Fits | Lack] = Searches(2 * _REMEMBERED, _weigh_fits, _share)


def assign(options: ClusterOptions, layout: Layout, charge: Charge, budget: SearchBudget) -> Assignment | Refusal:
    """Return the first assignment in declared order of pools that has room, or the cluster's refusal."""
    key = options.ways, layout.sizes, charge

    def search_assignment(meter: Meter) -> Assignment | Lack:
        search = _Search(options.ways, layout.sizes, meter)
        found = search.run(charge)
        return search.lack(charge) if found is None else found

    found = ASSIGNMENTS.find(key, budget, search_assignment)
    if isinstance(found, SearchBound):
        return of_profile(found, options.profile)
    return _refusal(found, options, layout) if isinstance(found, Lack) else found


def fits_in_order(options: ClusterOptions, layout: Layout, charge: Charge, budget: SearchBudget) -> Fits | Refusal:
    """Return the assignments on which a cluster takes more replicas, or its refusal when it takes none.

    Each further replica takes the first assignment with room. Room only shrinks, so an assignment is repeated until it
    no longer fits.
    """
    key = options.ways, layout.sizes, charge
    found = COUNTS.find(key, budget, lambda meter: _count(*key, meter))
    if isinstance(found, SearchBound):
        return of_profile(found, options.profile)
    return _refusal(found, options, layout) if isinstance(found, Lack) else found


def _count(ways: ClusterWays, sizes: Sizes, charge: Charge, meter: Meter) -> Fits | Lack:
    several = _count_several if len(ways.by_pool) > 1 else _count_one
    found: list[tuple[Assignment, int]] = []
    search = _Search(ways, sizes, meter)
    try:
        for fits in several(search, charge, meter):
            if not found:
                meter.shorten(_COUNTED if len(ways.by_pool) > 1 else _COUNTED_OF_ONE)
            found.append(fits)
    except OutOfStatesError:
        # The number of further replicas only ranks clusters, and what was counted so far does; that there is one is
        # known.
        if not found or not meter.whole:
            raise
    return tuple(found) or search.lack(charge)


def _count_one(search: _Search, charge: Charge, meter: Meter) -> Iterator[tuple[Assignment, int]]:
    hosting = search.hosting
    for position, options in search.ways.by_pool[0]:
        (nodes, counts, slots), groups = search.sizes.pools[position], charge[position]
        at = hosting.beside(position, groups).first(options)
        while at is not None:
            times = more(nodes, counts, groups, options[at].group, slots)
            meter.spend(room_states(nodes, counts, groups) * times.bit_length())
            yield (PoolOption(position, options[at]),), times
            groups = hosting.with_more(position, groups, options[at].group, times)
            at = hosting.beside(position, groups).first(options, at + 1)


def _count_several(search: _Search, charge: Charge, _meter: Meter) -> Iterator[tuple[Assignment, int]]:
    while found := search.run(charge):
        times = _times(found, search.hosting, charge)
        yield found, times
        for option in found:
            charge = search.hosting.place(charge, option, times)


def _times(found: Assignment, hosting: Hosting, charge: Charge) -> int:
    """Return how often the assignment fits, by doubling and halving."""

    def fit(times: int) -> bool:
        after = charge
        for option in found:
            after = with_placed(after, option, times)
        return all(hosting.fits(option.position, after[option.position]) for option in found)

    low, high = 1, 2
    while fit(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fit(middle) else (low, middle)
    return low
