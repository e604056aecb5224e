"""Which replicas must leave, which go first, and how many that leave are kept.

Rules: a replica leaves when its cluster is absent or being deleted, when its pools are gone or cannot match the
deployment's members any more, or when its cluster has a NoExecute taint that the deployment does not tolerate.
Those that do not serve yield: in the order of serving ones first, then creation time, the owner's uid and their own,
each stays iff it fits in all its pools beside everything that stayed before it.
Leaving replicas that have served are kept until their replacements serve: as many as `replicas` exceeds those that do
not leave and are seen to serve; first those that are seen to serve, then those that cannot be seen, the oldest last to
go. Scale-down leaves as many that serve as it can (`faults_of_scale_down`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster, Effect
from modelplane.model.replica import Replica
from property.oracles.placing import fits, matching_assignments
from property.oracles.taints import untolerated


def evicted(deployment: Deployment, cluster: Cluster | None) -> bool:
    """Tell whether a taint of the cluster drives the deployment's replicas away."""
    return cluster is not None and bool(untolerated(deployment, cluster, Effect.NO_EXECUTE))


def homeless(deployment: Deployment, replica: Replica, cluster: Cluster | None) -> bool:
    """Tell whether the replica's cluster or pools are gone, or no longer match what the deployment asks for."""
    if cluster is None or cluster.deleting:
        return True
    if cluster.pools is None:
        return False
    own = {engine.pool for engine in replica.engines}
    if not own <= {pool.name for pool in cluster.pools}:
        return True
    return not any({engine.pool for engine in way} <= own for way in matching_assignments(cluster, deployment))


def leaves(deployment: Deployment, replica: Replica, clusters: Mapping[str, Cluster]) -> bool:
    """Tell whether the replica has to be replaced, for whichever reason."""
    cluster = clusters.get(replica.cluster)
    return evicted(deployment, cluster) or homeless(deployment, replica, cluster)


def can_be_seen(replica: Replica, clusters: Mapping[str, Cluster]) -> bool:
    """Tell whether what the replica says is about its present spec, from a cluster that answers."""
    cluster = clusters.get(replica.cluster)
    return cluster is not None and cluster.answers and not replica.stale


def served_last(replica: Replica) -> bool:
    """Tell whether the replica last said that it serves, with whichever pods it had then."""
    return replica.has_served and replica.ready


def serves_as_asked(replica: Replica) -> bool:
    """Tell whether the replica last said that it serves, with the engines and the content that it has now."""
    same_pods = replica.served_content == replica.content and (
        replica.served_engines is None
        or [replace(engine, copies=1) for engine in replica.served_engines]
        == [replace(engine, copies=1) for engine in replica.engines]
    )
    return served_last(replica) and same_pods


def serves_now(replica: Replica, clusters: Mapping[str, Cluster]) -> bool:
    """Tell whether the replica is seen to serve with what it carries."""
    return serves_as_asked(replica) and can_be_seen(replica, clusters)


def kept_leaving(
    replicas: int, leaving: Sequence[Replica], staying: Iterable[Replica], clusters: Mapping[str, Cluster]
) -> list[Replica]:
    """Return the leaving replicas that are kept of those that have served: as many as still needed."""
    needed = max(0, replicas - sum(serves_now(replica, clusters) for replica in staying))
    by_age = sorted((r for r in leaving if r.has_served), key=lambda r: (r.created, r.owner, r.uid))
    serving = [r for r in by_age if serves_now(r, clusters)]
    unseen = [r for r in by_age if served_last(r) and not can_be_seen(r, clusters)]
    idle = [r for r in by_age if r not in serving and r not in unseen]
    return [*serving, *unseen, *idle][:needed]


def _left(kept: Iterable[Replica], clusters: Mapping[str, Cluster]) -> tuple[int, ...]:
    """Return how many of these may serve, have served, cannot be seen, and serve as asked: the more, the better."""
    some = list(kept)
    may = [r for r in some if served_last(r)]
    return (
        len(may),
        sum(r.has_served for r in some),
        sum(not can_be_seen(r, clusters) for r in may),
        sum(map(serves_as_asked, may)),
    )


def faults_of_scale_down(
    asked: int, own: Collection[Replica], kept: Collection[Replica], clusters: Mapping[str, Cluster]
) -> list[str]:
    """Return what is wrong with keeping these replicas of a deployment that asks for so many.

    Of all that could be kept no choice may have more that serve or may serve; then more that have served; then more of
    which nothing can be seen; then more that serve as asked. None that is equal to an ended one may be on a cluster
    that keeps two more, or one more and has a later name, or on the same cluster with a higher index.
    """
    count, best = min(asked, len(own)), _left(kept, clusters)
    if len(kept) != count:
        return [f"{len(kept)} of {count} are kept"]
    better = max(_left(choice, clusters) for choice in combinations(own, count))
    faults = [f"{best} are left, and {better} could be"] if best < better else []
    there = Counter(replica.cluster for replica in kept)
    ended = [replica for replica in own if replica not in kept]
    for one, other in product(kept, ended):
        if _left([one], clusters) != _left([other], clusters):
            continue
        if one.cluster == other.cluster:
            uneven = (one.index or 0) > (other.index or 0)
        else:
            most, least = there[one.cluster], there[other.cluster]
            uneven = most > least + 1 or (most == least + 1 and one.cluster > other.cluster)
        faults += [f"{one.name} is kept for {other.name}"] if uneven else []
    return faults


def yielding(replicas: Iterable[Replica], clusters: Mapping[str, Cluster]) -> set[str]:
    """Return the uids of the replicas that do not fit beside those before them; what is being deleted stays."""
    kept: list[Replica] = []
    gone: set[str] = set()
    for replica in sorted(replicas, key=lambda r: (not (r.has_served or r.deleting), r.created, r.owner, r.uid)):
        cluster = clusters.get(replica.cluster)
        if replica.has_served or replica.deleting or cluster is None or fits(cluster, replica.engines, kept):
            kept.append(replica)
        else:
            gone.add(replica.uid)
    return gone
