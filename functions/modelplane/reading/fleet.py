"""The fleet as it stands: clusters with what is claimed and free, deployments, services, and what is not known.

Nothing is reconciled or decided. Tables, JSON and whatever else shows a fleet use these values.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Final

from modelplane.model.conditions import ClusterCondition
from modelplane.model.fleet import Cluster
from modelplane.model.names import GROUP
from modelplane.observed.cluster import read_cluster
from modelplane.observed.replica import read_replica
from modelplane.reading.deployments import deployments
from modelplane.reading.published import (
    FleetCache,
    FleetGateway,
    FleetService,
    State,
    read_caches,
    read_gateways,
    read_services,
    word_not_true,
)
from modelplane.reading.reader import Reader, as_object, list_residents
from modelplane.reading.tree import Manifest, Tree, items
from modelplane.reading.unread import word_unread
from modelplane.scheduling import PoolRoom, capacity
from modelplane.step import Object

#: Name and version of the JSON that `as_json` returns.
FLEET_VERSION: Final = "fleet.modelplane.ai/v1alpha1"
_CLUSTER: Final = f"InferenceCluster.{GROUP}"


@dataclass(frozen=True, slots=True)
class DeviceCount:
    """The devices of one kind in a pool. `stranded` ones are free, but in no node that is free as a whole."""

    total: int
    claimed: int
    free: int
    stranded: int


@dataclass(frozen=True, slots=True)
class FleetPool:
    """A pool: its nodes, those that are free whatever runs where, its devices by name, and who holds some of them.

    `holders` are ModelReplicas as NAMESPACE/NAME, as far as the cluster publishes them.
    """

    name: str
    nodes: int
    nodes_free: int
    devices: Mapping[str, DeviceCount]
    holders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FleetCluster:
    """A cluster; `message` says why it is not Ready, `taints` are key:effect, `pools` are empty while unknown."""

    name: str
    state: State
    message: str
    taints: tuple[str, ...]
    replicas: int
    pools: tuple[FleetPool, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet at a time (RFC 3339). `deployments` are those of `reading.deployments`, `unknown` are sentences."""

    as_of: str
    clusters: tuple[FleetCluster, ...]
    deployments: tuple[Manifest, ...]
    services: tuple[FleetService, ...]
    caches: tuple[FleetCache, ...]
    gateways: tuple[FleetGateway, ...]
    unknown: tuple[str, ...]


def read_fleet(reader: Reader, as_of: str, gaps: Iterable[str] = (), *, residents_read: bool = True) -> Fleet:
    """Return the fleet of a reader, everything sorted by namespace and name.

    `gaps` are sentences on what was not read. `residents_read`: ModelReplicas were, so that one that is not there is
    not in the input; else the room is what clusters publish.
    """
    return Fleet(
        as_of,
        read_clusters(reader),
        tuple(deployments(reader)),
        read_services(reader),
        read_caches(reader),
        read_gateways(reader),
        (*gaps, *word_unknown(reader, residents_read=residents_read)),
    )


def select(fleet: Fleet, part: str, namespace: str = "", name: str = "") -> Fleet:
    """Return a part of a fleet, `fleet` for all of it, of a namespace ("" for all), or the one object of a name."""

    def chosen(of: str, namespace_of: str, name_of: str) -> bool:
        return part in ("fleet", of) and namespace in ("", namespace_of) and name in ("", name_of)

    return replace(
        fleet,
        clusters=tuple(each for each in fleet.clusters if part in ("fleet", "clusters") and name in ("", each.name)),
        deployments=tuple(each for each in fleet.deployments if chosen("deployments", each["namespace"], each["name"])),
        services=tuple(each for each in fleet.services if chosen("services", each.namespace, each.name)),
        caches=tuple(each for each in fleet.caches if chosen("caches", each.namespace, each.name)),
        gateways=fleet.gateways if part == "fleet" else (),
    )


def find_changes(before: Fleet, after: Fleet) -> Fleet:
    """Return what is new or another in a fleet than it was before, and nothing else."""
    return replace(
        after,
        clusters=tuple(each for each in after.clusters if each not in before.clusters),
        deployments=tuple(each for each in after.deployments if each not in before.deployments),
        services=tuple(each for each in after.services if each not in before.services),
        caches=tuple(each for each in after.caches if each not in before.caches),
        gateways=tuple(each for each in after.gateways if each not in before.gateways),
        unknown=tuple(each for each in after.unknown if each not in before.unknown),
    )


def read_clusters(reader: Reader) -> tuple[FleetCluster, ...]:
    """Return the clusters of a reader with their room, sorted by name."""
    listed = [as_object(reader, obj) for obj in reader.list(_CLUSTER)]
    clusters = [read_cluster(obj) for obj in listed]
    rooms = capacity(clusters, map(read_replica, list_residents(reader)))
    found = {name: tuple(of_cluster) for name, of_cluster in groupby(rooms, lambda room: room.cluster)}
    return tuple(
        _cluster(obj, cluster, found.get(cluster.name, ())) for obj, cluster in zip(listed, clusters, strict=True)
    )


def count_claimed(obj: Object, residents: Iterable[Object]) -> int:
    """Return how many devices of an InferenceCluster its ModelReplicas claim."""
    rooms = capacity([read_cluster(obj)], map(read_replica, residents))
    return sum(each.total - each.free for room in rooms for each in room.devices)


def total_devices(clusters: Iterable[FleetCluster]) -> Mapping[str, DeviceCount]:
    """Return the devices of all clusters by name."""
    found: dict[str, Counter[str]] = {}
    for pool in (pool for cluster in clusters for pool in cluster.pools):
        for name, devices in pool.devices.items():
            found.setdefault(name, Counter()).update(asdict(devices))
    return {name: DeviceCount(**each) for name, each in sorted(found.items())}


def clusters_as_json(clusters: Iterable[FleetCluster]) -> list[Tree]:
    """Return clusters as in FLEET_VERSION."""
    return [
        {
            "name": cluster.name,
            "state": str(cluster.state),
            "message": cluster.message,
            "taints": list(cluster.taints),
            "replicas": cluster.replicas,
            "pools": [
                {
                    "name": pool.name,
                    "nodes": pool.nodes,
                    "nodesFree": pool.nodes_free,
                    "devices": {name: asdict(devices) for name, devices in pool.devices.items()},
                    "holders": list(pool.holders),
                }
                for pool in cluster.pools
            ],
        }
        for cluster in clusters
    ]


def as_json(fleet: Fleet) -> Tree:
    """Return a fleet as JSON of FLEET_VERSION."""
    return {
        "apiVersion": FLEET_VERSION,
        "asOf": fleet.as_of,
        "clusters": clusters_as_json(fleet.clusters),
        "deployments": [dict(each) for each in fleet.deployments],
        "services": [
            {
                "namespace": service.namespace,
                "name": service.name,
                "state": str(service.state),
                "message": service.message,
                "url": service.url,
                "keys": service.keys,
                "endpoints": {"ready": service.ready, "total": service.total},
            }
            for service in fleet.services
        ],
        "caches": [
            {
                "namespace": cache.namespace,
                "name": cache.name,
                "state": str(cache.state),
                "message": cache.message,
                "source": cache.source,
                "ready": cache.ready,
                "clusters": [
                    {"name": name, "phase": phase, "message": message}
                    for name, (phase, message) in sorted(cache.clusters.items())
                ],
            }
            for cache in fleet.caches
        ],
        "gateways": [{**asdict(gateway), "state": str(gateway.state)} for gateway in fleet.gateways],
        "unknown": list(fleet.unknown),
    }


def _pool(room: PoolRoom, holders: tuple[str, ...]) -> FleetPool:
    devices = {}
    for each in room.devices:
        whole = each.total // room.nodes * room.free_nodes if room.nodes else 0
        devices[each.name] = DeviceCount(each.total, each.total - each.free, each.free, max(0, each.free - whole))
    return FleetPool(room.pool, room.nodes, room.free_nodes, devices, holders)


def _cluster(obj: Object, cluster: Cluster, rooms: tuple[PoolRoom, ...]) -> FleetCluster:
    taints = tuple(f"{taint.key}:{taint.effect}" for taint in cluster.taints)
    state = State.TAINTED if taints else State.READY
    if cluster.deleting:
        state = State.DELETING
    elif not cluster.ready:
        state = State.NOT_READY
    elif not cluster.address:
        state = State.NO_ADDRESS
    message = (
        ""
        if state in {State.READY, State.TAINTED}
        else word_not_true(obj.body, ClusterCondition.CLUSTER_READY, ClusterCondition.BACKEND_READY)
    )
    holders = {str(entry.get("name")): _holders(entry) for entry in items(obj.body, "status", "gpuPools")}
    pools = tuple(_pool(room, holders.get(room.pool, ())) for room in rooms)
    return FleetCluster(cluster.name, state, message, taints, cluster.replicas, pools)


def _holders(entry: Manifest) -> tuple[str, ...]:
    found, more = entry.get("holders"), entry.get("moreHolders")
    names = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    return (*names, *([f"and {more} more"] if isinstance(more, int) and more > 0 else []))


def word_unknown(reader: Reader, *, residents_read: bool) -> list[str]:
    """Return sentences on what is not known of clusters, and why; `residents_read` as in `read_fleet`."""
    clusters = [read_cluster(as_object(reader, obj)) for obj in reader.list(_CLUSTER)]
    unread = word_unread(reader.unread.values()) if residents_read else ""
    uncharged = [each.cluster for each in reader.unread.values() if not each.published and not residents_read]
    unpublished = [each.name for each in clusters if each.pools is None]
    silent = [each.name for each in clusters if not each.answers]
    return [
        *([unread] if unread else []),
        *(f"{name} does not publish what its replicas take: all of its nodes count as taken" for name in uncharged),
        *(f"{name} publishes no pools: its room is not known" for name in unpublished),
        *(f"{name} does not answer: what runs there is as last seen" for name in silent),
    ]
