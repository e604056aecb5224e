"""Puts the engines of a replica on the pools of one cluster: the first assignment that has room, found exactly."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from modelplane.model.refusal import NoRoom, Refusal, SearchBound, of_profile, rank
from modelplane.scheduling.budget import Budget, Meter, OutOfStatesError, Searches
from modelplane.scheduling.groups import Stock, join, size, weigh_groups
from modelplane.scheduling.hardware import Layout, Sizes
from modelplane.scheduling.hosting import Hosting, with_placed
from modelplane.scheduling.options import ClusterOptions, ClusterWays, PoolOption, weigh_ways
from modelplane.scheduling.room import Shortage, more, room_states, shortage, shortage_of

Assignment = tuple[PoolOption, ...]
#: All that a search turns on: clusters that are alike in this are searched once.
_Key = tuple[ClusterWays, Sizes, Stock]

#: Bytes of the outcomes that are remembered; counts are asked for of every cluster.
_REMEMBERED = 16 * 1024 * 1024
#: Options of a pool that are asked how many nodes they lack; the others would only refine a number in a message.
_ASKED = 8


class Lack(NamedTuple):
    """The engine that finds no place, and what each pool that has options for it lacks, by position."""

    engine: int
    of_pools: tuple[tuple[int, Shortage], ...]


class _Search:
    """One search over the engines in their order, each with its options in theirs.

    The first option that has room is taken, and where that leads to no place for a later engine, the first after which
    the later engines can still be hosted. Room only shrinks as engines are added, so nothing is ever taken back.
    """

    def __init__(self, ways: ClusterWays, sizes: Sizes, meter: Meter) -> None:
        self.ways = ways
        self.sizes = sizes
        self.hosting = Hosting(ways, sizes, meter)
        #: The engine that found no place after those before it took the first one that they found, and that stock.
        self.stuck: tuple[int, Stock] = (0, ())

    def run(self, stock: Stock) -> Assignment | None:
        """Return the first assignment that has room, None when none has. Raises OutOfStatesError."""
        found = self._take(stock, lambda _at, _after: True)
        if found is None and self.stuck[0] and self.hosting.can_follow(0, stock):
            found = self._take(stock, self.hosting.can_follow)
        return found

    def _take(self, stock: Stock, good: Callable[[int, Stock], bool]) -> Assignment | None:
        chosen: list[PoolOption] = []
        for at in range(len(self.ways.by_pool)):
            self.stuck = at, stock
            for option in self.ways.of(at):
                after = with_placed(stock, option)
                if self.hosting.fits(option.position, after[option.position]) and good(at + 1, after):
                    chosen.append(option)
                    stock = after
                    break
            else:
                return None
        return tuple(chosen)

    def lack(self, stock: Stock) -> Lack:
        """Return why there is no assignment, after `run` found none.

        That is what the first engine lacks that no pool hosts even without the other engines; where each alone finds
        room, the engine that finds none beside the others.
        """
        if len(self.ways.by_pool) == 1:
            return self._lack_of(stock, 0)
        for at in range(len(self.ways.by_pool)):
            if not any(self._has_room(stock, option) for option in self.ways.of(at)):
                return self._lack_of(stock, at)
        return self._lack_of(self.stuck[1], self.stuck[0])

    def _has_room(self, stock: Stock, option: PoolOption) -> bool:
        return self.hosting.fits(option.position, join(stock[option.position], option.option.group))

    def _lack_of(self, stock: Stock, at: int) -> Lack:
        """Return what an engine lacks that finds no room beside the stock."""
        shortages = []
        for position, options in self.ways.by_pool[at]:
            short = min(
                (_shortage(self.sizes, stock, PoolOption(position, option)) for option in islice(options, _ASKED)),
                key=lambda short: short.needs - short.free,
            )
            shortages.append((position, short))
        return Lack(at, tuple(shortages))


def _refusal(lack: Lack, options: ClusterOptions, layout: Layout) -> Refusal:
    """Return the refusal of the pool that came nearest to hosting the engine that finds no place."""
    engine, refusals = options.engines[lack.engine].name, dict(options.refusals[lack.engine])
    for position, short in lack.of_pools:
        refusals[position] = NoRoom(engine, short.needs, short.free, profile=options.profile)
    nearest = min(refusals, key=lambda position: _distance(refusals[position]))
    return replace(refusals[nearest], pool=layout.pools[nearest].name)


def _distance(refusal: Refusal) -> tuple[int, int]:
    """Return how far a pool is from hosting: the latest reason is nearest, and of those the smallest shortage."""
    return -rank(refusal), refusal.needs - refusal.free if isinstance(refusal, NoRoom) else 0


def _shortage(sizes: Sizes, stock: Stock, placed: PoolOption) -> Shortage:
    """Return what the pool lacks: nodes for the engine itself, or for a group that it would strand."""
    (nodes, counts), group = sizes.pools[placed.position], placed.option.group
    after = join(stock[placed.position], group)
    own = shortage_of(nodes, counts, after, group)
    return own or shortage(nodes, counts, after) or Shortage(size(group), nodes)


def _weigh(key: _Key, _found: object) -> int:
    """Return about how many bytes an entry keeps alive: the stock, and options that nothing else may keep."""
    ways, sizes, stock = key
    here = zip(sizes.pools, stock, strict=True)
    return weigh_ways(ways) + sum([128 + weigh_groups(len(counts), groups) for (_, counts), groups in here])


ASSIGNMENTS: Searches[_Key, Assignment | Lack] = Searches(_REMEMBERED, _weigh)
COUNTS: Searches[_Key, tuple[Assignment, int] | Lack] = Searches(2 * _REMEMBERED, _weigh)


def assign(options: ClusterOptions, layout: Layout, stock: Stock, budget: Budget) -> Assignment | Refusal:
    """Return the first assignment in declared order of pools that has room, or the cluster's refusal."""
    key = options.ways, layout.sizes, stock

    def search_assignment(meter: Meter) -> Assignment | Lack:
        search = _Search(options.ways, layout.sizes, meter)
        found = search.run(stock)
        return search.lack(stock) if found is None else found

    found = ASSIGNMENTS.find(key, budget, search_assignment)
    if isinstance(found, SearchBound):
        return of_profile(found, options.profile)
    return _refusal(found, options, layout) if isinstance(found, Lack) else found


def first_fit_and_count(
    options: ClusterOptions, layout: Layout, stock: Stock, budget: Budget
) -> tuple[Assignment, int] | Refusal:
    """Return the first assignment that has room, and how many more replicas the cluster takes, or its refusal.

    They are counted one after the other, each on its first assignment. As room only shrinks, an assignment is first
    until it no longer fits, so it is repeated as often as it fits.
    """
    key = options.ways, layout.sizes, stock
    found = COUNTS.find(key, budget, lambda meter: _count(*key, meter))
    if isinstance(found, SearchBound):
        return of_profile(found, options.profile)
    return _refusal(found, options, layout) if isinstance(found, Lack) else found


def _count(ways: ClusterWays, sizes: Sizes, stock: Stock, meter: Meter) -> tuple[Assignment, int] | Lack:
    several = _count_several if len(ways.by_pool) > 1 else _count_one
    first: Assignment = ()
    total = 0
    search = _Search(ways, sizes, meter)
    try:
        for found, times in several(search, stock, meter):
            first = first or found
            total += times
    except OutOfStatesError:
        # How many more there are only ranks clusters; that there is one is known.
        if not first or not meter.whole:
            raise
    return (first, total) if first else search.lack(stock)


def _count_one(search: _Search, stock: Stock, meter: Meter) -> Iterator[tuple[Assignment, int]]:
    for option in search.ways.of(0):
        (nodes, counts), group = search.sizes.pools[option.position], option.option.group
        times = more(nodes, counts, stock[option.position], group) if nodes else 0
        meter.spend(room_states(nodes, counts, stock[option.position]) * (1 + times.bit_length()))
        if times:
            yield (option,), times
            stock = with_placed(stock, option, times)


def _count_several(search: _Search, stock: Stock, _meter: Meter) -> Iterator[tuple[Assignment, int]]:
    while found := search.run(stock):
        times = _times(found, search.hosting, stock)
        yield found, times
        for option in found:
            stock = with_placed(stock, option, times)


def _times(found: Assignment, hosting: Hosting, stock: Stock) -> int:
    """Return how often the assignment fits, by doubling and halving."""

    def fit(times: int) -> bool:
        after = stock
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
