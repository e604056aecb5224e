"""What an InferenceCluster says of itself: its conditions, and what it publishes to the scheduler."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cluster import gateway, reach
from modelplane.compose_cluster.commitments import committed
from modelplane.compose_cluster.pools import Published
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE, provider_config
from modelplane.model.replica import Replica
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import Request

#: Composition resource name of the ClusterProviderConfig.
CONFIG = "provider-config"
_FIELDS = ("namespace", "providerConfigRef", "gateway", "cache", "gpuPools", "replicas")


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen of a cluster: the Objects that look at it, and its status as it was before this pass."""

    probe: Remote | None
    gateway: Remote | None
    last: Mapping[str, Any]

    @property
    def connection(self) -> Condition:
        """Return ClusterReady as far as the connection goes."""
        return reach.judge(self.probe)

    @property
    def address(self) -> Mapping[str, Any]:
        """Return `status.gateway`, empty while the gateway has no address."""
        return gateway.read_address(self.gateway, mapping(self.last.get("gateway")))

    @property
    def ready(self) -> bool:
        """Tell whether replicas can be put there: the cluster answers and its gateway has an address."""
        return self.connection.status is Status.TRUE and bool(self.address)


def look(request: Request) -> Sight:
    """Return what this pass sees of the cluster."""

    def remote(resource: str) -> Remote | None:
        found = request.observed.get(resource)
        return read_remote(found) if found else None

    return Sight(remote(reach.RESOURCE), remote(gateway.RESOURCE), mapping(request.composite.body.get("status")))


def cluster_ready(sight: Sight, pools: Published) -> Condition:
    """Return ClusterReady: whether the cluster answers and every pool has its class."""
    found, problems = sight.connection, "; ".join(pools.problems)
    if found.status is Status.TRUE and problems:
        return Condition(found.type, Status.FALSE, Reason.WAITING_FOR_CLASSES, problems)
    return Condition(found.type, found.status, found.reason, "; ".join(filter(None, (found.message, problems))))


def backend_ready(sight: Sight) -> Condition:
    """Return BackendReady: whether what serves requests on the cluster is there."""
    called = f"Gateway {CLUSTER_GATEWAY} in {SYSTEM_NAMESPACE}"
    if sight.connection.status is not Status.TRUE:
        return Condition(
            ClusterCondition.BACKEND_READY, Status.FALSE, Reason.WAITING_FOR_CLUSTER, sight.connection.message
        )
    stale = f"{called} {sight.gateway.stale}" if sight.gateway and sight.gateway.stale else ""
    if sight.address:
        last = f"last known address {sight.address['address']}: {stale}" if stale else ""
        return Condition(ClusterCondition.BACKEND_READY, Status.TRUE, Reason.BACKEND_HEALTHY, last)
    return Condition(
        ClusterCondition.BACKEND_READY, Status.FALSE, Reason.INSTALLING, stale or f"{called} has no address yet"
    )


def held(sight: Sight) -> dict[str, Any]:
    """Return the status of a cluster whose spec cannot be carried out: as it was, but for what is seen now."""
    status = {field: sight.last[field] for field in _FIELDS if field in sight.last and field != "gateway"}
    return status | ({"gateway": dict(sight.address)} if sight.address else {})


def published_pools(last: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the pools that were published before, by name."""
    return {text(entry.get("name")): entry for entry in mappings(last.get("gpuPools"))}


def _pool(entry: Mapping[str, Any], last: Mapping[str, Any], replicas: list[Replica] | None) -> dict[str, Any]:
    """Return a pool's entry with what is committed of it; as last counted while the replicas are not known."""
    if replicas is not None:
        return {**entry, "devicesCommitted": committed(entry, replicas)}
    before = mapping(last.get(entry["name"])).get("devicesCommitted")
    return {**entry, "devicesCommitted": before} if before is not None else dict(entry)


def status(
    request: Request, sight: Sight, pools: Published, replicas: list[Replica] | None, storage_class: str | None
) -> dict[str, Any]:
    """Return the whole status of ours: a field that is left out is removed.

    The provider config is published once it exists, and then always.
    """
    before = published_pools(sight.last)
    config = {"name": provider_config(request.composite.name)}
    exists = CONFIG in request.observed or sight.last.get("providerConfigRef")
    count = len(replicas) if replicas is not None else sight.last.get("replicas")
    fields = {
        "namespace": SYSTEM_NAMESPACE,
        "providerConfigRef": config if exists else None,
        "gateway": dict(sight.address) or None,
        "cache": {"storageClassName": storage_class} if storage_class else None,
        "gpuPools": [_pool(entry, before, replicas) for entry in pools.entries],
        "replicas": count,
    }
    return {field: value for field, value in fields.items() if value is not None}
