"""Which replicas go when there are more than asked for, and how many leaving ones are kept until others serve."""

from collections import Counter
from collections.abc import Sequence

from modelplane.scheduling.roster import Own, seniority


def surplus(staying: Sequence[Own], replicas: int) -> list[Own]:
    """Return the replicas to end so that `replicas` stay, one removal after the other.

    First those that do not serve, then from the cluster with the most of them, then the latest cluster name, then the
    highest index.
    """
    if len(staying) <= replicas:
        return []
    on_cluster = Counter(own.replica.cluster for own in staying)
    idle, serving = _by_cluster(staying, serves=False), _by_cluster(staying, serves=True)
    ended: list[Own] = []
    while len(staying) - len(ended) > replicas:
        several = idle or serving
        cluster = max(several, key=lambda name: (on_cluster[name], name))
        ended.append(several[cluster].pop())
        on_cluster[cluster] -= 1
        if not several[cluster]:
            del several[cluster]
    return ended


def _by_cluster(staying: Sequence[Own], *, serves: bool) -> dict[str, list[Own]]:
    found: dict[str, list[Own]] = {}
    for own in sorted(staying, key=lambda own: own.index):
        if own.replica.serves is serves:
            found.setdefault(own.replica.cluster, []).append(own)
    return found


def kept_until_others_serve(leaving: Sequence[Own], needed: int) -> list[Own]:
    """Return the leaving replicas that are kept: `needed` of them, the oldest, as those go last."""
    return sorted(leaving, key=lambda own: seniority(own.replica))[:needed]
