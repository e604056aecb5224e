"""Which replicas go when there are more than asked for, and how many leaving ones are kept until others serve."""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence

from modelplane.scheduling.roster import Own, seniority


def surplus(staying: Sequence[Own], replicas: int) -> list[Own]:
    """Return the replicas to end so that `replicas` stay, one removal after the other.

    First those that do not serve, then from the cluster with the most of them, then the latest cluster name, then the
    highest index.
    """
    on_cluster = Counter(own.replica.cluster for own in staying)
    idle = [own for own in staying if not own.replica.serves]
    serving = [own for own in staying if own.replica.serves]
    ended: list[Own] = []
    for removals in (_removals(idle, on_cluster), _removals(serving, on_cluster)):
        while len(staying) - len(ended) > replicas and (own := next(removals, None)):
            ended.append(own)
    return ended


def _removals(some: Sequence[Own], on_cluster: Counter[str]) -> Iterator[Own]:
    """Yield replicas in the order in which they go; `on_cluster` counts all that stay, and is kept up to date."""
    by_cluster: dict[str, list[Own]] = {}
    for own in sorted(some, key=lambda own: own.index):
        by_cluster.setdefault(own.replica.cluster, []).append(own)
    names = sorted(by_cluster, reverse=True)
    ranks = [(-on_cluster[name], place) for place, name in enumerate(names)]
    heapq.heapify(ranks)
    while ranks:
        _, place = ranks[0]
        name = names[place]
        on_cluster[name] -= 1
        own = by_cluster[name].pop()
        if by_cluster[name]:
            heapq.heapreplace(ranks, (-on_cluster[name], place))
        else:
            heapq.heappop(ranks)
        yield own


def kept_until_others_serve(leaving: Sequence[Own], needed: int) -> list[Own]:
    """Return the leaving replicas that are kept: `needed` of them, the oldest, as those go last."""
    return sorted(leaving, key=lambda own: seniority(own.replica))[:needed]
