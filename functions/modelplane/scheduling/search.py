"""Puts the engines of a replica on the pools of one cluster: the first assignment that has room, found exactly."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from modelplane.model.refusal import NoRoom, Refusal, SearchBound, of_profile, rank
from modelplane.scheduling.budget import Budget, Meter, OutOfStatesError, Searches
from modelplane.scheduling.groups import Stock, join, size, weigh_groups
from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.hosting import Hosting, with_placed
from modelplane.scheduling.options import ClusterOptions, PoolOption, weigh_options
from modelplane.scheduling.room import Shortage, more, room_states, shortage, shortage_of

Assignment = tuple[PoolOption, ...]
_Key = tuple[ClusterOptions, Layout, Stock]

#: Bytes of the outcomes that are remembered; counts are asked for of every cluster.
_REMEMBERED = 16 * 1024 * 1024
#: Options of a pool that are asked how many nodes they lack; the others would only refine a number in a message.
_ASKED = 8


class _Search:
    """One search over the engines in their order, each with its options in theirs.

    The first option that has room is taken, and where that leads to no place for a later engine, the first after which
    the later engines can still be hosted. Room only shrinks as engines are added, so nothing is ever taken back.
    """

    def __init__(self, options: ClusterOptions, layout: Layout, meter: Meter) -> None:
        self.options = options
        self.layout = layout
        self.meter = meter
        self.hosting = Hosting(options, layout, meter)
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
        for at in range(len(self.options.engines)):
            self.stuck = at, stock
            for option in self.options.of(at):
                after = with_placed(stock, option)
                if self.hosting.fits(option.position, after[option.position]) and good(at + 1, after):
                    chosen.append(option)
                    stock = after
                    break
            else:
                return None
        return tuple(chosen)

    def refusal(self, stock: Stock) -> Refusal:
        """Return why there is no assignment, after `run` found none.

        The refusal is of the first engine that no pool hosts even without the other engines; where each alone finds
        room, of the engine that finds none beside the others.
        """
        for at in range(len(self.options.engines)):
            if not any(self._has_room(stock, option) for option in self.options.of(at)):
                return self._nearest(stock, at)
        return self._nearest(self.stuck[1], self.stuck[0])

    def _has_room(self, stock: Stock, option: PoolOption) -> bool:
        return self.hosting.fits(option.position, join(stock[option.position], option.option.group))

    def _nearest(self, stock: Stock, at: int) -> Refusal:
        """Return the refusal of the pool that came nearest to hosting an engine that finds no room beside the stock."""
        refusals = dict(self.options.refusals[at])
        for position, options in self.options.by_pool[at]:
            short = min(
                (_shortage(self.layout, stock, PoolOption(position, option)) for option in islice(options, _ASKED)),
                key=lambda short: short.needs - short.free,
            )
            engine, profile = self.options.engines[at].name, self.options.profile
            refusals[position] = NoRoom(engine, short.needs, short.free, profile=profile)
        nearest = min(refusals, key=lambda position: _distance(refusals[position]))
        return replace(refusals[nearest], pool=self.layout.pools[nearest].name)


def _distance(refusal: Refusal) -> tuple[int, int]:
    """Return how far a pool is from hosting: the latest reason is nearest, and of those the smallest shortage."""
    return -rank(refusal), refusal.needs - refusal.free if isinstance(refusal, NoRoom) else 0


def _shortage(layout: Layout, stock: Stock, placed: PoolOption) -> Shortage:
    """Return what the pool lacks: nodes for the engine itself, or for a group that it would strand."""
    pool, group = layout.pools[placed.position], placed.option.group
    counts, after = pool.hardware.counts, join(stock[placed.position], group)
    own = shortage_of(pool.nodes, counts, after, group)
    return own or shortage(pool.nodes, counts, after) or Shortage(size(group), pool.nodes)


def _weigh(key: _Key, _found: object) -> int:
    """Return about how many bytes an entry keeps alive: the stock, and options that nothing else may keep."""
    options, layout, stock = key
    here = zip(layout.pools, stock, strict=True)
    return weigh_options(options) + sum([weigh_groups(len(pool.hardware.counts), groups) for pool, groups in here])


ASSIGNMENTS: Searches[_Key, Assignment | Refusal] = Searches(_REMEMBERED, _weigh)
COUNTS: Searches[_Key, tuple[Assignment, int]] = Searches(2 * _REMEMBERED, _weigh)


def assign(options: ClusterOptions, layout: Layout, stock: Stock, budget: Budget) -> Assignment | Refusal:
    """Return the first assignment in declared order of pools that has room, or the cluster's refusal."""

    def search_assignment(meter: Meter) -> Assignment | Refusal:
        search = _Search(options, layout, meter)
        found = search.run(stock)
        return search.refusal(stock) if found is None else found

    found = ASSIGNMENTS.find((options, layout, stock), budget, search_assignment)
    return of_profile(found, options.profile) if isinstance(found, Refusal) else found


def first_fit_and_count(
    options: ClusterOptions, layout: Layout, stock: Stock, budget: Budget
) -> tuple[Assignment, int] | SearchBound:
    """Return the first assignment that has room, and how many more replicas the cluster takes; ((), 0) for no room.

    They are counted one after the other, each on its first assignment. As room only shrinks, an assignment is first
    until it no longer fits, so it is repeated as often as it fits.
    """
    several = _count_several if len(options.engines) > 1 else _count_one

    def search_and_count(meter: Meter) -> tuple[Assignment, int]:
        first: Assignment = ()
        total = 0
        try:
            for found, times in several(options, layout, stock, meter):
                first = first or found
                total += times
        except OutOfStatesError:
            # How many more there are only ranks clusters; that there is one is known.
            if not first or not meter.whole:
                raise
        return first, total

    found = COUNTS.find((options, layout, stock), budget, search_and_count)
    return SearchBound(found.states, profile=options.profile) if isinstance(found, SearchBound) else found


def _count_one(options: ClusterOptions, layout: Layout, stock: Stock, meter: Meter) -> Iterator[tuple[Assignment, int]]:
    for option in options.of(0):
        pool, group = layout.pools[option.position], option.option.group
        times = more(pool.nodes, pool.hardware.counts, stock[option.position], group) if pool.nodes else 0
        states = room_states(pool.nodes, pool.hardware.counts, stock[option.position])
        meter.spend(states * (1 + times.bit_length()))
        if times:
            yield (option,), times
            stock = with_placed(stock, option, times)


def _count_several(
    options: ClusterOptions, layout: Layout, stock: Stock, meter: Meter
) -> Iterator[tuple[Assignment, int]]:
    search = _Search(options, layout, meter)
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
