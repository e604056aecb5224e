"""Puts the engines of a replica on the pools of one cluster: the first assignment that has room, found exactly."""

from functools import lru_cache

from modelplane.model.refusal import NoRoom, Refusal, SearchBound, rank
from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.match import CACHE_SIZE, STATES
from modelplane.scheduling.plan import Plan, Way
from modelplane.scheduling.room import Groups, Shortage, join, more, shortage, shortage_of, size

#: The groups on each pool of a cluster, in the pools' order.
Stock = tuple[Groups, ...]
Assignment = tuple[Way, ...]


def settle(stock: Stock, way: Way, times: int = 1) -> Stock:
    """Return the stock with `times` more engines placed in that way."""
    return (*stock[: way.site], join(stock[way.site], way.group, times), *stock[way.site + 1 :])


def fits(layout: Layout, stock: Stock, site: int) -> bool:
    """Tell whether the pool has room for all its groups."""
    pool = layout.sites[site]
    return pool.nodes > 0 and shortage(pool.nodes, pool.hardware.counts, stock[site]) is None


class _Search:
    """Depth-first over the engines, each in its declared order of ways; more groups never make room, so it prunes."""

    def __init__(self, plan: Plan, layout: Layout) -> None:
        self.plan = plan
        self.layout = layout
        self.visited = 0
        self.dead: set[object] = set()
        #: Pools of equal nodes are interchangeable: which of them holds what is remembered without their order.
        alike = [(pool.nodes, pool.hardware) for pool in layout.sites]
        self.kinds = [alike.index(kind) for kind in alike]
        self.stuck: tuple[int, Stock] = (-1, ())

    def run(self, stock: Stock, chosen: Assignment = ()) -> Assignment | None:
        """Return the first assignment that has room, None when none has or the bound was hit."""
        at = len(chosen)
        if at == len(self.plan.ways):
            return chosen
        state = (at, tuple(sorted(zip(self.kinds, stock, strict=True))))
        if state in self.dead:
            return None
        if at > self.stuck[0]:
            self.stuck = (at, stock)
        for way in self.plan.ways[at] if self._hopeful(at, stock) else ():
            self.visited += 1
            if self.visited > STATES:
                return None
            after = settle(stock, way)
            if fits(self.layout, after, way.site):
                found = self.run(after, (*chosen, way))
                if found is not None:
                    return found
        self.dead.add(state)
        return None

    def _hopeful(self, at: int, stock: Stock) -> bool:
        """Tell whether each later engine alone would still find room."""
        return all(
            any(fits(self.layout, settle(stock, way), way.site) for way in ways) for ways in self.plan.ways[at + 1 :]
        )


def _first(plan: Plan, layout: Layout, stock: Stock) -> Assignment | None:
    return _Search(plan, layout).run(stock)


@lru_cache(maxsize=CACHE_SIZE)
def assign(plan: Plan, layout: Layout, stock: Stock) -> Assignment | Refusal:
    """Return the first assignment in declared order of pools that has room, or the cluster's refusal.

    The refusal is that of the first engine that no pool hosts even without the other engines; where each engine alone
    finds room, of the engine at which the search got no further.
    """
    search = _Search(plan, layout)
    found = search.run(stock)
    if found is not None:
        return found
    if search.visited > STATES:
        return SearchBound(STATES)
    for at, ways in enumerate(plan.ways):
        if not any(fits(layout, settle(stock, way), way.site) for way in ways):
            return _nearest(plan, layout, stock, at)
    return _nearest(plan, layout, search.stuck[1], search.stuck[0])


def _nearest(plan: Plan, layout: Layout, stock: Stock, at: int) -> Refusal:
    """Return the refusal of the pool that came nearest to hosting an engine that finds no room beside the stock."""
    refusals = dict(plan.refusals[at])
    for way in plan.ways[at]:
        short = _shortage(layout, stock, way)
        known = refusals.get(way.site)
        if not isinstance(known, NoRoom) or short.needs - short.free < known.needs - known.free:
            refusals[way.site] = NoRoom(plan.engines[at].name, short.needs, short.free)
    return min(refusals.values(), key=_distance)


def _distance(refusal: Refusal) -> tuple[int, int]:
    """Return how far a pool is from hosting: the latest reason is nearest, and of those the smallest shortage."""
    return -rank(refusal), refusal.needs - refusal.free if isinstance(refusal, NoRoom) else 0


def _shortage(layout: Layout, stock: Stock, way: Way) -> Shortage:
    """Return what the pool lacks: nodes for the engine itself, or for a group that it would strand."""
    pool, after = layout.sites[way.site], join(stock[way.site], way.group)
    counts = pool.hardware.counts
    own = shortage_of(pool.nodes, counts, after, way.group)
    return own or shortage(pool.nodes, counts, after) or Shortage(size(way.group), pool.nodes)


@lru_cache(maxsize=CACHE_SIZE)
def prospect(plan: Plan, layout: Layout, stock: Stock) -> tuple[Assignment, int] | None:
    """Return the first assignment that has room, and how many more replicas the cluster takes; None for no room.

    They are counted one after the other, each on its first assignment. As room only shrinks, an assignment is first
    until it no longer fits, so it is repeated as often as it fits.
    """
    if len(plan.ways) == 1:
        return _prospect_of_one(plan.ways[0], layout, stock)
    first: Assignment | None = None
    total = 0
    while found := _first(plan, layout, stock):
        first = first or found
        times = _times(found, layout, stock)
        for way in found:
            stock = settle(stock, way, times)
        total += times
    return (first, total) if first else None


def _prospect_of_one(ways: tuple[Way, ...], layout: Layout, stock: Stock) -> tuple[Assignment, int] | None:
    first: Assignment | None = None
    total = 0
    for way in ways:
        pool = layout.sites[way.site]
        times = more(pool.nodes, pool.hardware.counts, stock[way.site], way.group) if pool.nodes else 0
        if times:
            first = first or (way,)
            total += times
            stock = settle(stock, way, times)
    return (first, total) if first else None


def _times(found: Assignment, layout: Layout, stock: Stock) -> int:
    """Return how often the assignment fits, by doubling and halving."""

    def fit(times: int) -> bool:
        after = stock
        for way in found:
            after = settle(after, way, times)
        return all(fits(layout, after, way.site) for way in found)

    low, high = 1, 2
    while fit(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fit(middle) else (low, middle)
    return low
