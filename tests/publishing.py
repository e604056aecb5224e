"""What clusters publish of the replicas on them, as compose-cluster does, for tests that play a fleet."""

from collections.abc import Iterable
from dataclasses import replace

from modelplane.model.fleet import Cluster
from modelplane.model.replica import Replica
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.room.by_hand import holding
from modelplane.scheduling.room.charge import write_charge
from modelplane.scheduling.room.ledger import charge_of


def published(cluster: Cluster, replicas: Iterable[Replica]) -> Cluster:
    """Return a cluster with what is charged on its pools by those of the replicas that are on it."""
    there = holding((replica for replica in replicas if replica.cluster == cluster.name), lambda _: cluster)
    texts = write_charge(
        charge_of((replica.engines for replica in there), layout(cluster)), layout(cluster).sizes.devices
    )
    if not cluster.pools or texts is None:
        return replace(cluster, replicas=len(there))
    pools = tuple(replace(pool, charged=charged) for pool, charged in zip(cluster.pools, texts, strict=True))
    return replace(cluster, pools=pools, replicas=len(there))
