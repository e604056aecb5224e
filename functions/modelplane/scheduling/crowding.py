"""Which of a deployment's replicas run on pools that have become too small for what runs there."""

from collections.abc import Iterator

from modelplane.model.fleet import Cluster
from modelplane.model.placement import TooSmall
from modelplane.model.replica import Replica
from modelplane.scheduling.charged import read_groups
from modelplane.scheduling.groups import Groups
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.ledger import charges, identity
from modelplane.scheduling.precedence import crowded_out
from modelplane.scheduling.room import has_room, shortage_of
from modelplane.scheduling.work import Work


def find_too_small(work: Work) -> Iterator[TooSmall]:
    """Yield the replicas that are not leaving and do not fit beside those before them, as far as these are known.

    Nothing is fetched for it: a settled pass knows the deployment's own replicas. Where those alone fit, the cluster
    publishes what tells of a pool that is too small for them and for replicas of others. Each of ours is named then:
    which of all came first is not published.
    """
    counted = {identity(own.replica): own.replica for own in work.roster.counted}
    for name in sorted({replica.cluster for replica in counted.values()}):
        cluster = work.cluster(name)
        if not isinstance(cluster, Cluster) or cluster.pools is None:
            continue
        found = crowded_out(cluster, work.ledger)
        for uid, (pool, short) in sorted(found.items()):
            if uid in counted and counted[uid].serves:
                yield TooSmall(counted[uid], pool, short.needs, short.free)
        if not found and not work.knows_residents(name):
            there = [replica for _, replica in sorted(counted.items()) if replica.cluster == name and replica.serves]
            yield from _shared(cluster, there)


def _shared(cluster: Cluster, replicas: list[Replica]) -> Iterator[TooSmall]:
    """Yield those of the replicas that have no room beside what the cluster publishes of its pools."""
    where, crowded = layout(cluster), _crowded(cluster)
    for replica in replicas:
        for position, group in charges(replica.engines, where) if crowded else ():
            pool, groups = where.pools[position], crowded.get(position, ())
            known = any(each == group for each, _ in groups)
            if known and (short := shortage_of(pool.nodes, pool.hardware.counts, groups, group)):
                yield TooSmall(replica, pool.name, short.needs, short.free)
                break


def _crowded(cluster: Cluster) -> dict[int, Groups]:
    """Return what a cluster publishes of those of its pools (by position) that have no room for it."""
    found = {}
    for position, (pool, nodes) in enumerate(zip(cluster.pools or (), layout(cluster).pools, strict=True)):
        groups = None if pool.charged is None else read_groups(pool.charged, nodes.hardware.counts)
        if groups and not has_room(nodes.nodes, nodes.hardware.counts, groups):
            found[position] = groups
    return found
