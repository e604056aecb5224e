"""The fleet as it stands: clusters with what is claimed and free, deployments, services, and what is not known.

Nothing is reconciled or decided. Tables, JSON and whatever else shows a fleet use these values.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from modelplane.model.conditions import ClusterCondition, ServiceCondition
from modelplane.model.fleet import Cluster
from modelplane.model.names import GROUP
from modelplane.observed.cluster import read_cluster
from modelplane.observed.replica import read_replica
from modelplane.reading.deployments import condition, deployments
from modelplane.reading.reader import Reader, as_object, list_residents
from modelplane.reading.tree import Manifest, Tree, mapping
from modelplane.reading.unread import word_unread
from modelplane.scheduling import PoolRoom, capacity
from modelplane.step import Object

#: Name and version of the JSON that `as_json` returns.
FLEET_VERSION: Final = "fleet.modelplane.ai/v1alpha1"
_CLUSTER: Final = f"InferenceCluster.{GROUP}"
_SERVICE: Final = f"ModelService.{GROUP}"


class State(StrEnum):
    """The state of a cluster or a service. `TAINTED`: Ready, and closed to deployments that do not tolerate it."""

    READY = "Ready"
    TAINTED = "Tainted"
    NO_ADDRESS = "NoGatewayAddress"
    NOT_READY = "NotReady"
    DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class DeviceCount:
    """The devices of one kind in a pool. `stranded` ones are free, but in no node that is free as a whole."""

    total: int
    claimed: int
    free: int
    stranded: int


@dataclass(frozen=True, slots=True)
class FleetPool:
    """A pool: its nodes, those that are free whatever runs where, and its devices by name."""

    name: str
    nodes: int
    nodes_free: int
    devices: Mapping[str, DeviceCount]


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
class FleetService:
    """A service: its URL and keys as published, and how many of its endpoints take traffic."""

    namespace: str
    name: str
    state: State
    message: str
    url: str
    keys: str
    ready: int
    total: int


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet at a time (RFC 3339). `deployments` are those of `reading.deployments`, `unknown` are sentences."""

    as_of: str
    clusters: tuple[FleetCluster, ...]
    deployments: tuple[Manifest, ...]
    services: tuple[FleetService, ...]
    unknown: tuple[str, ...]

    def totals(self) -> Mapping[str, DeviceCount]:
        """Return the devices of the whole fleet by name."""
        found: dict[str, Counter[str]] = {}
        for pool in (pool for cluster in self.clusters for pool in cluster.pools):
            for name, devices in pool.devices.items():
                found.setdefault(name, Counter()).update(asdict(devices))
        return {name: DeviceCount(**each) for name, each in sorted(found.items())}


def read_fleet(reader: Reader, as_of: str) -> Fleet:
    """Return the fleet of a reader, everything sorted by namespace and name."""
    listed = [as_object(reader, obj) for obj in reader.list(_CLUSTER)]
    clusters = [read_cluster(obj) for obj in listed]
    rooms = capacity(clusters, map(read_replica, list_residents(reader)))
    pools = {name: tuple(map(_pool, found)) for name, found in groupby(rooms, lambda room: room.cluster)}
    return Fleet(
        as_of,
        tuple(
            _cluster(obj, cluster, pools.get(cluster.name, ())) for obj, cluster in zip(listed, clusters, strict=True)
        ),
        tuple(deployments(reader)),
        tuple(map(_service, reader.list(_SERVICE))),
        tuple(_unknown(reader, clusters)),
    )


def as_json(fleet: Fleet) -> Tree:
    """Return a fleet as JSON of FLEET_VERSION."""
    return {
        "apiVersion": FLEET_VERSION,
        "asOf": fleet.as_of,
        "clusters": [
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
                    }
                    for pool in cluster.pools
                ],
            }
            for cluster in fleet.clusters
        ],
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
        "unknown": list(fleet.unknown),
    }


def _pool(room: PoolRoom) -> FleetPool:
    devices = {}
    for each in room.devices:
        whole = each.total // room.nodes * room.free_nodes if room.nodes else 0
        devices[each.name] = DeviceCount(each.total, each.total - each.free, each.free, max(0, each.free - whole))
    return FleetPool(room.pool, room.nodes, room.free_nodes, devices)


def _cluster(obj: Object, cluster: Cluster, pools: tuple[FleetPool, ...]) -> FleetCluster:
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
        else _why(obj.body, ClusterCondition.CLUSTER_READY, ClusterCondition.BACKEND_READY)
    )
    return FleetCluster(cluster.name, state, message, taints, cluster.replicas, pools)


def _why(obj: Manifest, *kinds: str) -> str:
    """Return the message of the first of these conditions that is not True, "" where none says more."""
    found = (condition(obj, kind) for kind in kinds)
    return next((str(each.get("message") or "") for each in found if each and each.get("status") != "True"), "")


def _service(obj: Manifest) -> FleetService:
    ready = condition(obj, "Ready").get("status") == "True"
    status, metadata = mapping(obj, "status"), obj["metadata"]
    endpoints = mapping(status, "endpoints")
    return FleetService(
        metadata["namespace"],
        metadata["name"],
        State.READY if ready else State.NOT_READY,
        "" if ready else _why(obj, ServiceCondition.ENDPOINTS_RESOLVED, ServiceCondition.ROUTING_READY),
        str(status.get("url") or ""),
        str(status.get("keys") or ""),
        _count(endpoints.get("ready")),
        _count(endpoints.get("total")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _unknown(reader: Reader, clusters: list[Cluster]) -> list[str]:
    """Return what is not known, and why."""
    unread = word_unread(reader.unread.values())
    unpublished = [each.name for each in clusters if each.pools is None]
    silent = [each.name for each in clusters if not each.answers]
    return [
        *([unread] if unread else []),
        *(f"{name} publishes no pools: its room is not known" for name in unpublished),
        *(f"{name} does not answer: what runs there is as last seen" for name in silent),
    ]
