"""What an InferenceCluster says of itself: its conditions, and what it publishes to the scheduler."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.compose_cluster.commitments import Commitments, Residents, commit
from modelplane.compose_cluster.gateway import PART
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.compose_cluster.pools import Published
from modelplane.composing.messages import out_of_sync, sentences
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE, provider_config
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.gateway import gateway_obstacles
from modelplane.step import Request

#: Composition resource name of the ClusterProviderConfig.
CONFIG = "provider-config"
_FIELDS = ("namespace", "clusterUID", "providerConfigRef", "gateway", "cache", "gpuPools", "replicas", "charges")
#: Fields of a published pool that its replicas tell.
_COMMITTED = ("devicesCommitted", "charged")


def cluster_ready(observation: ClusterObservation, pools: Published, missing: tuple[str, ...]) -> Condition:
    """Return ClusterReady: whether nothing is missing, the cluster answers and every pool has its class."""
    found, problems = observation.connection, sentences(*pools.problems)
    if missing:
        return Condition(found.type, Status.FALSE, Reason.PROVISIONING, sentences(*missing, *pools.problems))
    if found.status is Status.TRUE and problems:
        return Condition(found.type, Status.FALSE, Reason.WAITING_FOR_CLASSES, problems)
    return Condition(
        found.type, found.status, found.reason, sentences(found.message, problems) if problems else found.message
    )


def backend_ready(observation: ClusterObservation) -> Condition:
    """Return BackendReady: whether what serves requests on the cluster is there."""
    kind, named = ClusterCondition.BACKEND_READY, f"Gateway {SYSTEM_NAMESPACE}/{CLUSTER_GATEWAY}"
    if observation.connection.status is not Status.TRUE:
        return Condition(kind, Status.FALSE, Reason.WAITING_FOR_CLUSTER, observation.connection.message)
    seen = {named: observation.gateway} if observation.gateway and not observation.gateway.absent else {}
    failure = out_of_sync("", {**seen, **observation.remotes})
    if observation.address:
        last = f"last known address {observation.address['address']}, {failure}" if failure else ""
        plain = _PLAIN if observation.encrypts and not observation.address.get("mutualTLS") else ""
        return Condition(kind, Status.TRUE, Reason.BACKEND_HEALTHY, last or plain)
    return Condition(kind, Status.FALSE, Reason.INSTALLING, failure or _why_no_address(observation, named))


#: Of a Gateway that serves, and is not ours.
_PLAIN = (
    "Requests to the cluster are not encrypted: its Gateway is not Modelplane's. Drain the cluster and delete that "
    "Gateway, and Modelplane makes its own"
)


def _why_no_address(observation: ClusterObservation, named: str) -> str:
    gateway = observation.gateway
    if gateway is None or gateway.absent or not gateway.manifest:
        if observation.parts:
            waiting = sorted(name.removeprefix(PART) for name, ready in observation.parts.items() if not ready)
            return f"{named} is being made" + (f"; it waits for: {', '.join(waiting)}" if waiting else "")
        return f"{named} does not exist. Modelplane makes it once InferenceGateway default publishes status.caBundle"
    return "; ".join([f"{named}: {each}" for each in gateway_obstacles(gateway.manifest)]) or (
        f"{named} has no address yet"
    )


def held(observation: ClusterObservation) -> dict[str, Any]:
    """Return the status of a cluster whose spec cannot be carried out: as it was, but for what is seen now."""
    status = {field: observation.last[field] for field in _FIELDS if field in observation.last and field != "gateway"}
    return status | ({"gateway": dict(observation.address)} if observation.address else {})


def published_pools(last: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the pools that were published before, by name."""
    return {text(entry.get("name")): entry for entry in mappings(last.get("gpuPools"))}


def _pools(
    entries: Sequence[Mapping[str, Any]], last: Mapping[str, Any], found: Commitments | None
) -> list[dict[str, Any]]:
    """Return the pools' entries with what is committed of them; as last counted while the replicas are not known."""
    if found is None:
        before = published_pools(last)
        kept = ({field: mapping(before.get(entry["name"])).get(field) for field in _COMMITTED} for entry in entries)
        return [
            {**entry, **{field: value for field, value in each.items() if value is not None}}
            for entry, each in zip(entries, kept, strict=True)
        ]
    texts = (None,) * len(entries) if found.charged is None else found.charged
    plain = ({field: value for field, value in entry.items() if field not in _COMMITTED} for entry in entries)
    return [
        {**entry, "devicesCommitted": dict(held)} | ({} if charged is None else {"charged": charged})
        for entry, held, charged in zip(plain, found.devices, texts, strict=True)
    ]


def _charges(last: Mapping[str, Any], found: Commitments | None) -> Mapping[str, Any] | None:
    """Return of which replicas the pools' charges are, and whether they are published."""
    if found is None:
        return last.get("charges")
    return {"residents": found.digest, "published": found.charged is not None}


def status(
    request: Request,
    observation: ClusterObservation,
    pools: Published,
    residents: Residents | None,
    storage_class: str | None,
) -> dict[str, Any]:
    """Return the whole status of ours: a field that is left out is removed.

    The provider config is published once it exists, and then always.
    """
    found = None if residents is None else commit(pools.entries, residents)
    config = {"name": provider_config(request.composite.name)}
    exists = CONFIG in request.observed or observation.last.get("providerConfigRef")
    count = observation.last.get("replicas") if found is None else found.replicas
    fields = {
        "namespace": SYSTEM_NAMESPACE,
        "clusterUID": observation.uid or None,
        "providerConfigRef": config if exists else None,
        "gateway": dict(observation.address) or None,
        "cache": {"storageClassName": storage_class} if storage_class else None,
        "gpuPools": _pools(pools.entries, observation.last, found),
        "replicas": count,
        "charges": _charges(observation.last, found),
    }
    return {field: value for field, value in fields.items() if value is not None}
