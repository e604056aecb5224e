"""Which of a deployment's replicas run on pools that have become too small for what runs there."""

from collections.abc import Iterator

from modelplane.model.fleet import Cluster
from modelplane.model.placement import TooSmall
from modelplane.scheduling.ledger import identity
from modelplane.scheduling.work import Work
from modelplane.scheduling.yielding import crowded_out


def find_too_small(work: Work) -> Iterator[TooSmall]:
    """Yield the replicas that are not leaving and do not fit beside those before them, as far as these are known.

    Nothing is fetched for it: a settled pass knows the deployment's own replicas, which is what a pool that is smaller
    than they are turns on.
    """
    counted = {identity(own.replica): own.replica for own in work.roster.counted}
    for name in sorted({replica.cluster for replica in counted.values()}):
        cluster = work.cluster(name)
        if isinstance(cluster, Cluster) and cluster.pools is not None:
            for uid, (pool, short) in sorted(crowded_out(cluster, work.ledger).items()):
                if uid in counted and counted[uid].serves:
                    yield TooSmall(counted[uid], pool, short.needs, short.free)
