"""Whether other engines would take more of a pool than a replica's present ones do."""

from collections import Counter
from itertools import chain, combinations

from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.ledger import Engines, charges
from modelplane.scheduling.room import Demand, Group


def _within(less: Demand, more: Demand) -> bool:
    return all(most <= most_before for (_, most), (_, most_before) in zip(less, more, strict=True))


def covers(before: Group, after: Group) -> bool:
    """Tell whether every pod of `after` can stand where another pod of `before` stood (Hall's condition)."""
    subsets = chain.from_iterable(combinations(after, many) for many in range(1, len(after) + 1))
    return all(
        sum(pods for _, pods in some)
        <= sum(pods for room, pods in before if any(_within(demand, room) for demand, _ in some))
        for some in subsets
    )


def _exchange(before: list[Group], after: list[Group]) -> bool:
    """Tell whether each group of `after` can take the place of another group of `before`."""
    if not after:
        return True
    first, rest = after[0], after[1:]
    return any(
        covers(group, first) and _exchange(before[:at] + before[at + 1 :], rest) for at, group in enumerate(before)
    )


def grows(before: Engines, after: Engines, where: Layout) -> bool:
    """Tell whether `after` takes more of some pool than `before`: more pods, or pods that take more."""
    had, takes = Counter(charges(before, where)), Counter(charges(after, where))
    kept = had & takes
    left, added = list((had - kept).elements()), list((takes - kept).elements())
    return any(
        not _exchange([group for at, group in left if at == site], [group for at, group in added if at == site])
        for site in {site for site, _ in added}
    )
