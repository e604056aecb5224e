"""Which replicas go when there are more than the deployment asks for."""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence

from modelplane.model.serving import Serving
from modelplane.scheduling.roster import OwnReplica


def surplus(counted: Sequence[OwnReplica], replicas: int) -> list[OwnReplica]:
    """Return the replicas to end so that `replicas` are left, in the order in which they go.

    Replicas that never served go first, then those that were last seen not to serve, then those that serve, and last
    those that cannot be seen. Among the latter two, those that never served with their present spec go first, then
    those of the last profile in the ClusterModel. Then come those on the cluster with the most of them, then the latest
    cluster name, then the highest index.
    """
    on_cluster = Counter(own.replica.cluster for own in counted)
    alike: dict[tuple[bool, Serving, bool, int], list[OwnReplica]] = {}
    for each in counted:
        worth = (False, 0) if each.serving is Serving.NOT else (each.replica.proven, -each.place)
        alike.setdefault((each.replica.has_served, each.serving, *worth), []).append(each)
    removed: list[OwnReplica] = []
    for key in sorted(alike):
        removals = _removals(alike[key], on_cluster)
        while len(counted) - len(removed) > replicas and (own := next(removals, None)):
            removed.append(own)
    return removed


def _removals(some: Sequence[OwnReplica], on_cluster: Counter[str]) -> Iterator[OwnReplica]:
    """Yield replicas in the order in which they go; `on_cluster` counts all replicas and is updated."""
    by_cluster: dict[str, list[OwnReplica]] = {}
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
