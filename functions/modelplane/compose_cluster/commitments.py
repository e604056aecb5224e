"""What the replicas on a cluster hold of its pools, published for users and for the scheduler.

`scheduling.room.ledger` reads it where it does not read the replicas themselves.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.composing import requirements as require
from modelplane.model.fleet import ClaimKind, Cluster, Device, Pool
from modelplane.model.observation import Gap
from modelplane.model.replica import Replica
from modelplane.observed.cluster import read_cluster
from modelplane.observed.device import read_device
from modelplane.observed.fields import count, mappings, text
from modelplane.observed.memo import once_per_version
from modelplane.observed.replica import read_replica
from modelplane.observed.resources import read_node, read_pods
from modelplane.scheduling.pools import Groups, Layout, layout_of
from modelplane.scheduling.room import MOST_PUBLISHED, charge_of, charges, holding, write_charge
from modelplane.step import Object, Request

#: Most bytes of a status that publishes charges, and the part reserved for other content than pools and charges: names
#: of holders, conditions, the gateway.
_STATUS, _OTHERS = 64 * 1024, 12 * 1024

#: Fields of a published pool that are computed from its replicas.
COMMITTED = ("devicesCommitted", "holders", "moreHolders", "charged")


@dataclass(frozen=True, slots=True)
class Residents:
    """The replicas on a cluster, and a digest of their uids and generations."""

    replicas: tuple[Replica, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Commitments:
    """What a cluster publishes about its residents.

    For each pool: `devices`, how many devices are held, by device name; `charged`, the groups for the check of room,
    None if they are too long to be published; `holders`, the replicas that hold something of it, as namespace/name,
    sorted.
    """

    replicas: int
    digest: str
    devices: tuple[Mapping[str, int], ...]
    charged: tuple[str, ...] | None
    holders: tuple[tuple[str, ...], ...] = ()


def placed(request: Request) -> Residents | None:
    """Return the replicas on the cluster, None while they are not fetched.

    A hand-written replica that composes nothing because it cannot run there counts in the digest only.
    """
    cluster = read_cluster(request.composite)
    found = request.all(require.residents(cluster.name))
    return None if isinstance(found, Gap) else count_residents(cluster, found)


def count_residents(cluster: Cluster, replicas: Iterable[Object]) -> Residents:
    """Return which of these ModelReplicas are on a cluster."""
    there = [(obj, replica) for obj in replicas if (replica := read_replica(obj)).cluster == cluster.name]
    held = holding((replica for _, replica in there), lambda _: cluster)
    return Residents(tuple(held), _digest(obj for obj, _ in there))


def _digest(residents: Iterable[Object]) -> str:
    """Return a digest of uids and generations, which a change of a status does not affect."""
    return hashlib.sha256("\n".join(sorted(map(_version, residents))).encode()).hexdigest()[:16]


@once_per_version
def _version(resident: Object) -> str:
    """Return uid and generation, read from the outline, which `read_replica` has parsed: pod templates may be large."""
    metadata = resident.outline.metadata
    return f"{text(metadata.get('uid'))}/{count(metadata.get('generation'))}"


def _read_pool(entry: Mapping[str, Any]) -> Pool:
    devices = (read_device(each) for each in mappings(entry.get("devices")))
    return Pool(
        text(entry.get("name")),
        count(entry.get("nodes")),
        tuple(device for device in devices if isinstance(device, Device)),
        node=read_node(entry.get("node")),
        pods=read_pods(entry.get("node")),
    )


def _held(pool: Pool, groups: Groups) -> dict[str, int]:
    """Return how many devices of each claimable kind groups take; a request that several kinds satisfy counts for each.

    A replica that may take either of two kinds is charged with both, because Kubernetes decides.
    """
    held = [0] * len(pool.devices)
    for group, times in groups:
        for demand, pods in group:
            for entry, (_, most) in enumerate(demand[: len(held)]):
                held[entry] += most * pods * times
    claimable = (device.claim is ClaimKind.DRA for device in pool.devices)
    return {device.name: taken for device, taken, claims in zip(pool.devices, held, claimable, strict=True) if claims}


def commit(entries: Sequence[Mapping[str, Any]], residents: Residents) -> Commitments:
    """Return what the residents hold of these published pools, by the scheduler's own charges, in the pools' order."""
    pools = tuple(map(_read_pool, entries))
    where = layout_of(pools)
    charge = charge_of((replica.engines for replica in residents.replicas), where)
    return Commitments(
        len(residents.replicas),
        residents.digest,
        tuple(_held(pool, groups) for pool, groups in zip(pools, charge, strict=True)),
        write_charge(charge, where.sizes.devices, _room_for_charges(entries)),
        _holders(residents, where),
    )


def hold_nodes(entries: Sequence[Mapping[str, Any]], residents: Residents) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the most nodes that the pods of residents can be on, and their names, for each pool that has any."""
    where = layout_of(tuple(map(_read_pool, entries)))
    pods = [0] * len(where.pools)
    for replica in residents.replicas:
        for position, group in charges(replica.engines, where):
            pods[position] += sum(count for _, count in group)
    names = [text(entry.get("name")) for entry in entries]
    nodes = [min(found, count(entry.get("nodes"))) for found, entry in zip(pods, entries, strict=True)]
    found = zip(names, nodes, _holders(residents, where), strict=True)
    return {name: (most, holders) for name, most, holders in found if most}


def _room_for_charges(entries: Sequence[Mapping[str, Any]]) -> int:
    """Return how many characters of charges fit into the status beside these pools."""
    return min(MOST_PUBLISHED, _STATUS - _OTHERS - len(json.dumps([without_committed(entry) for entry in entries])))


def without_committed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a published pool without the fields that are computed from its replicas."""
    return {field: value for field, value in entry.items() if field not in COMMITTED}


def _holders(residents: Residents, where: Layout) -> tuple[tuple[str, ...], ...]:
    found: list[set[str]] = [set() for _ in where.pools]
    for replica in residents.replicas:
        for position, _ in charges(replica.engines, where):
            found[position].add(f"{replica.namespace}/{replica.name}")
    return tuple(tuple(sorted(of_pool)) for of_pool in found)
