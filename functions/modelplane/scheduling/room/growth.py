"""Whether other engines would take more of a pool than a replica's present ones do."""

from collections import Counter
from collections.abc import Sequence

from modelplane.scheduling.pools import Demand, Group, Layout
from modelplane.scheduling.room.ledger import Engines, charges


def _within(less: Demand, more: Demand) -> bool:
    """Tell whether a pod takes no more than another; pods without devices are compared with such pods only."""
    if not less or not more:
        return less == more
    return all(most <= most_before for (_, most), (_, most_before) in zip(less, more, strict=True))


def _all_fit(needs: Sequence[int], places: Sequence[int], may: Sequence[Sequence[bool]]) -> bool:
    """Tell whether all of `needs[i]` find a place of their own among the `places[j]` for which `may[i][j]` holds.

    A maximum flow from needs to places, found by augmenting paths: polynomial, where looking at subsets
    (Hall's condition) or permutations is exponential.
    """
    flow = [[0] * len(places) for _ in needs]
    used = [0] * len(places)

    def move(need: int, amount: int, tried: set[int]) -> int:
        """Place up to `amount` of a kind, moving others if necessary; return how many were placed."""
        for place, room in enumerate(places):
            if not may[need][place] or place in tried:
                continue
            if used[place] < room:
                placed = min(amount, room - used[place])
                used[place] += placed
                flow[need][place] += placed
                return placed
            tried.add(place)
            for other, row in enumerate(flow):
                moved = move(other, min(amount, row[place]), tried) if row[place] and other != need else 0
                if moved:
                    row[place] -= moved
                    flow[need][place] += moved
                    return moved
        return 0

    for need, wanted in enumerate(needs):
        placed = 0
        while placed < wanted:
            more = move(need, wanted - placed, set())
            if not more:
                return False
            placed += more
    return True


def covers(before: Group, after: Group) -> bool:
    """Tell whether every pod of `after` can run where another pod of `before` ran."""
    may = [[_within(demand, room) for room, _ in before] for demand, _ in after]
    return _all_fit([pods for _, pods in after], [pods for _, pods in before], may)


def exchangeable(before: Sequence[Group], after: Sequence[Group]) -> bool:
    """Tell whether each group of `after` can take the place of another group of `before`."""
    may = [[covers(had, wanted) for had in before] for wanted in after]
    return _all_fit([1] * len(after), [1] * len(before), may)


def grows(before: Engines, after: Engines, where: Layout) -> bool:
    """Tell whether `after` takes more of some pool than `before`: more pods, or pods that take more."""
    had, takes = Counter(charges(before, where)), Counter(charges(after, where))
    unchanged = had & takes
    left, added = list((had - unchanged).elements()), list((takes - unchanged).elements())
    return any(
        not exchangeable(
            [group for at, group in left if at == position], [group for at, group in added if at == position]
        )
        for position in {position for position, _ in added}
    )
