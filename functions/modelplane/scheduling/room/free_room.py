"""How much of each pool is free, for tables and reports."""

from collections.abc import Iterable
from dataclasses import dataclass

from modelplane.model.fleet import ClaimKind, Cluster
from modelplane.model.replica import Replica
from modelplane.scheduling.pools import Groups, PoolNodes, layout, with_nodes
from modelplane.scheduling.room.ledger import Ledger
from modelplane.scheduling.room.room import blocked


@dataclass(frozen=True, slots=True)
class DeviceRoom:
    """The devices of one entry in a pool: how many there are, and how many no replica is charged with."""

    name: str
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class PoolRoom:
    """A pool: its nodes, those that are entirely free in any arrangement of pods, and its claimable devices."""

    cluster: str
    pool: str
    nodes: int
    free_nodes: int
    devices: tuple[DeviceRoom, ...]


def _pool_room(cluster: str, pool: PoolNodes, groups: Groups) -> PoolRoom:
    counts, capacity = pool.hardware.counts, pool.hardware.capacity
    held = [
        sum(demand[entry][1] * pods * many for group, many in groups for demand, pods in with_nodes(group))
        for entry in range(len(counts))
    ]
    claimable = [device.claim is ClaimKind.DRA for device in pool.hardware.devices]
    whole = tuple((count, count) if claims else (0, 0) for count, claims in zip(counts, claimable, strict=True))
    whole += ((0, 0),) * (len(capacity) - len(counts))
    devices = tuple(
        DeviceRoom(device.name, pool.nodes * count, max(0, pool.nodes * count - taken))
        for device, count, taken, claims in zip(pool.hardware.devices, counts, held, claimable, strict=True)
        if claims
    )
    taken = blocked(pool.nodes, capacity, groups, whole, pool.slots)
    return PoolRoom(cluster, pool.name, pool.nodes, pool.nodes - taken, devices)


def capacity(clusters: Iterable[Cluster], replicas: Iterable[Replica]) -> tuple[PoolRoom, ...]:
    """Return the room in every pool beside these replicas, sorted by cluster name, pools in their declared order."""
    ledger = Ledger(replicas)
    return tuple(
        _pool_room(cluster.name, pool, groups)
        for cluster in sorted(clusters, key=lambda cluster: cluster.name)
        for pool, groups in zip(layout(cluster).pools, ledger.charge(cluster), strict=True)
    )
