"""The state of a fleet as gauges for Prometheus: what `modelplane get` shows, as numbers.

A label holds names, reasons and states, never a message. Of replicas only the conditions are given that are not as they
should be: all of them would be more than half of all series.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from modelplane.model.names import GROUP, LABEL_DEPLOYMENT
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.catalogue import resolve
from modelplane.observed.deployment import read_deployment
from modelplane.observed.replica import read_replica
from modelplane.reading.deployments import DEPLOYMENT, condition, unmet_conditions
from modelplane.reading.fleet import Fleet
from modelplane.reading.kinds import OWN
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, child, items, mapping

_REPLICA: Final = f"ModelReplica.{GROUP}"
_CLUSTER: Final = f"InferenceCluster.{GROUP}"


#: Samples by the values of a metric's labels.
Samples = dict[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Series:
    """A metric without its prefix `modelplane_`, what it counts, and its samples by the values of its labels.

    It is a gauge, or a counter.
    """

    name: str
    text: str
    labels: tuple[str, ...]
    samples: Samples
    counter: bool = False


def read_series(reader: ManifestStore, fleet: Fleet) -> Iterator[Series]:
    """Yield the gauges of a fleet that was read from a reader; `fleet.as_of` is now."""
    yield from _of_clusters(reader, fleet)
    yield from _of_deployments(reader, fleet)
    yield from _of_replicas(reader)
    yield from _of_services_and_caches(fleet)
    yield from _of_conditions(reader)


def _of_clusters(reader: ManifestStore, fleet: Fleet) -> Iterator[Series]:
    sources: Samples = {
        (obj["metadata"]["name"], str(child(obj, "spec", "cluster", "source") or "")): 1.0
        for obj in reader.scan(_CLUSTER)
    }
    yield Series("cluster_info", "An InferenceCluster, always 1.", ("cluster", "source"), sources)
    pools = [(cluster.name, pool) for cluster in fleet.clusters for pool in cluster.pools]
    by = ("cluster", "pool")
    nodes: Samples = {(cluster, pool.name): float(pool.nodes) for cluster, pool in pools}
    yield Series("pool_nodes", "Nodes that a pool publishes.", by, nodes)
    free: Samples = {(cluster, pool.name): float(pool.nodes_free) for cluster, pool in pools}
    yield Series("pool_nodes_free", "Nodes of a pool that are free as a whole, whatever runs where.", by, free)
    devices = [(cluster, pool.name, name, count) for cluster, pool in pools for name, count in pool.devices.items()]
    of_device = (*by, "device")
    total: Samples = {(cluster, pool, name): float(count.total) for cluster, pool, name, count in devices}
    yield Series("pool_devices", "Devices that a pool publishes.", of_device, total)
    claimed: Samples = {(cluster, pool, name): float(count.claimed) for cluster, pool, name, count in devices}
    yield Series("pool_devices_committed", "Devices that the replicas on a pool claim.", of_device, claimed)


def _of_deployments(reader: ManifestStore, fleet: Fleet) -> Iterator[Series]:
    replicas: Samples = {}
    refused = Counter[tuple[str, ...]]()
    for each in fleet.deployments:
        named = each["namespace"], each["name"]
        leaving = sum(placed["leaving"] for placed in each["placed"])
        replicas[*named, "desired"] = float(each["replicas"])
        replicas[*named, "placed"] = float(len(each["placed"]) - leaving)
        replicas[*named, "ready"] = float(sum(placed["ready"] for placed in each["placed"]))
        replicas[*named, "serving"] = float(each["serving"])
        replicas[*named, "unplaced"] = float(each["unplaced"])
        replicas[*named, "leaving"] = float(leaving)
        for reason in each["reasons"]:
            refused[*named, reason["reason"]] += reason["count"]
    by = ("namespace", "deployment")
    yield Series("deployment_replicas", "Replicas of a deployment by state.", (*by, "state"), replicas)
    text = "Clusters that do not host the replicas of a deployment that are not placed, by reason."
    yield Series(
        "deployment_refused_clusters", text, (*by, "reason"), {named: float(refused[named]) for named in refused}
    )
    text = "Devices that replicas that are not placed ask for, by request."
    yield Series("deployment_demand_devices", text, (*by, "request"), _demand(reader, fleet))
    pending: Samples = {}
    for obj in reader.scan(DEPLOYMENT):
        since = _since(obj, "ReplicasScheduled", "False")
        if since is not None:
            pending[_name(obj)] = max(0.0, seconds(fleet.as_of) - since)
    yield Series("deployment_pending_seconds", "Time since a replica of a deployment is not placed.", by, pending)


def _demand(reader: ManifestStore, fleet: Fleet) -> Samples:
    """Return the devices that unplaced replicas ask for; of several profiles, those of the preferred one."""
    unplaced = {(each["namespace"], each["name"]): each["unplaced"] for each in fleet.deployments if each["unplaced"]}
    found = Counter[tuple[str, ...]]()
    for obj in reader.scan(DEPLOYMENT):
        if _name(obj) not in unplaced:
            continue
        read = as_object(reader, obj)
        deployment = read_deployment(read)
        if not isinstance(deployment, Malformed) and deployment.model is not None:
            model = reader.get(f"ClusterModel.{GROUP}", None, deployment.model.name)
            deployment = resolve(read, deployment, as_object(reader, model) if model else Gap.ABSENT).deployment
        if isinstance(deployment, Malformed) or not deployment.profiles:
            continue
        for engine in deployment.profiles[0].engines:
            for member in engine.members:
                for request in member.requests:
                    asked = request.count * member.pods * engine.copies
                    found[*_name(obj), request.name] += asked * unplaced[_name(obj)]
    return {named: float(found[named]) for named in found}


def _of_replicas(reader: ManifestStore) -> Iterator[Series]:
    info: Samples = {}
    ready: Samples = {}
    created: Samples = {}
    for obj in reader.scan(_REPLICA):
        named, replica = _name(obj), read_replica(as_object(reader, obj))
        deployment = str(mapping(obj, "metadata", "labels").get(LABEL_DEPLOYMENT) or "")
        profile = str(child(obj, "spec", "profile") or "")
        for engine in replica.engines:
            for pool in sorted({member.pool for member in engine.members}):
                info[*named, deployment, replica.cluster, pool, engine.name, profile] = 1.0
        ready[named] = float(_is_ready(obj))
        created[named] = seconds(replica.created)
    by = ("namespace", "replica")
    labels = (*by, "deployment", "cluster", "pool", "engine", "profile")
    yield Series("replica_info", "Where an engine of a replica runs, always 1.", labels, info)
    yield Series("replica_ready", "1 where a replica is Ready.", by, ready)
    text = "When a replica was created, in seconds since 1970."
    yield Series("replica_created_timestamp_seconds", text, by, created)


def _of_services_and_caches(fleet: Fleet) -> Iterator[Series]:
    endpoints: Samples = {}
    for each in fleet.services:
        endpoints[each.namespace, each.name, "ready"] = float(each.ready)
        endpoints[each.namespace, each.name, "total"] = float(each.total)
    labels = ("namespace", "service", "state")
    yield Series("service_endpoints", "Endpoints of a service that take traffic (ready), and all.", labels, endpoints)
    phases = Counter(
        (each.namespace, each.name, phase) for each in fleet.caches for phase, _ in each.clusters.values() if phase
    )
    found: Samples = {named: float(phases[named]) for named in phases}
    yield Series("cache_clusters", "Clusters of a cache by phase.", ("namespace", "cache", "phase"), found)


def _of_conditions(reader: ManifestStore) -> Iterator[Series]:
    states: Samples = {}
    changed: Samples = {}
    for kind in OWN:
        for obj in reader.scan(f"{kind}.{GROUP}"):
            named = kind, *_name(obj)
            for each in _conditions(kind, obj):
                type_ = str(each.get("type") or "")
                states[*named, type_, str(each.get("status") or ""), str(each.get("reason") or "")] = 1.0
                since = each.get("lastTransitionTime")
                if isinstance(since, str):
                    changed[*named, type_] = seconds(since)
    by = ("kind", "namespace", "name", "type")
    text = "A condition, always 1; of replicas only those that are not as they should be."
    yield Series("condition", text, (*by, "status", "reason"), states)
    text = "When a condition last changed, in seconds since 1970."
    yield Series("condition_transition_timestamp_seconds", text, by, changed)


def _conditions(kind: str, obj: Manifest) -> Iterable[Manifest]:
    return unmet_conditions(obj) if kind == "ModelReplica" else items(obj, "status", "conditions")


def _name(obj: Manifest) -> tuple[str, str]:
    return obj["metadata"].get("namespace") or "", obj["metadata"]["name"]


def _is_ready(obj: Manifest) -> bool:
    return any(
        each.get("type") == "Ready" and each.get("status") == "True" for each in items(obj, "status", "conditions")
    )


def _since(obj: Manifest, type_: str, status: str) -> float | None:
    """Return the time at which a condition took a status that it has, in seconds since 1970."""
    found = condition(obj, type_)
    time = found.get("lastTransitionTime")
    return seconds(time) if found.get("status") == status and isinstance(time, str) else None


def seconds(time: str) -> float:
    """Return an RFC 3339 time in seconds since 1970, 0 for none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0
