"""What an InferenceCluster reports: its conditions, and what it publishes for the scheduler."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.compose_cluster.commitments import (
    COMMITTED,
    Commitments,
    Residents,
    commit,
    placed,
    without_committed,
)
from modelplane.compose_cluster.gateway import PART
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.compose_cluster.pools import Published
from modelplane.compose_cluster.sharing import Shared
from modelplane.compose_cluster.sources import CONFIG, Provision
from modelplane.composing.hold import last_status
from modelplane.composing.messages import NO_LOAD_BALANCER, called, out_of_sync, sentences
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE, provider_config
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.gateway import gateway_obstacles, inner_address, lacks_address
from modelplane.step import Object, Request

#: Fields computed from replicas whose units depend on the pool's nodes.
_IN_UNITS = frozenset({"charged"})
#: Most replicas that are named as holders of one pool, and most characters of their names together: every pass that
#: places a replica reads the status of its candidates.
_MOST_HOLDERS, _MOST_NAMES = 32, 4096
#: Most InferenceClusters that are listed as sharing the cluster.
_MOST_SHARING = 64


def cluster_ready(observation: ClusterObservation, pools: Published, provision: Provision, shared: Shared) -> Condition:
    """Return ClusterReady: whether nothing is missing, the cluster answers and every pool has its class.

    Declared values that devices contradict are reported too; they only exclude replicas that require them.
    """
    found, problems = (
        observation.connection,
        sentences(*pools.problems, *pools.caveats, *_pools_states(provision), shared.caveat),
    )
    if observation.mistaken:
        problems = sentences(*provision.missing, problems)
    if provision.missing and observation.mistaken is None:
        return Condition(found.type, Status.FALSE, provision.reason, sentences(*provision.missing, problems))
    if found.status is Status.TRUE and shared.waits:
        return Condition(found.type, Status.FALSE, Reason.PROVISIONING, sentences(shared.waits, problems))
    if found.reason is Reason.UNREACHABLE:
        reach = _reach(provision, found.message)
        return Condition(found.type, found.status, found.reason, sentences(found.message, reach, problems))
    if found.status is Status.TRUE and pools.problems:
        return Condition(found.type, Status.FALSE, Reason.WAITING_FOR_CLASSES, problems)
    return Condition(
        found.type, found.status, found.reason, sentences(found.message, problems) if problems else found.message
    )


def _pools_states(provision: Provision) -> list[str]:
    """Return what is not as asked of node pools that exist, in the words of their provider."""
    return [f"node pool {name}: {pool.message}" for name, pool in sorted(provision.pools.items()) if pool.message]


def _reach(provision: Provision, error: str) -> str:
    """Return what to do about a cluster that does not answer, by what its provider says."""
    if provision.kubeconfig is None:
        return "Restore the connection"
    secret, key = provision.kubeconfig.secret.name, provision.kubeconfig.secret.key
    if _RUNS_A_COMMAND.search(error):
        return (
            f"Key {key} of Secret {SYSTEM_NAMESPACE}/{secret}, its kubeconfig, gets its credentials by a command "
            "(exec), which no provider runs. Put the token of a ServiceAccount or a client certificate into it, or "
            "name a cloud identity in spec.cluster.existing.identitySecretRef"
        )
    return f"Restore the connection, or correct key {key} of Secret {SYSTEM_NAMESPACE}/{secret}, its kubeconfig"


def backend_ready(observation: ClusterObservation) -> Condition:
    """Return BackendReady: whether the cluster's gateway can take requests."""
    kind, named = ClusterCondition.BACKEND_READY, f"Gateway {SYSTEM_NAMESPACE}/{CLUSTER_GATEWAY}"
    if observation.connection.status is not Status.TRUE:
        return Condition(kind, Status.FALSE, Reason.WAITING_FOR_CLUSTER, observation.connection.message)
    stack = observation.stack
    unseen = stack is not None and stack.serves is None and not (observation.address and observation.was_ready)
    if stack and (stack.serves is False or unseen):
        return Condition(kind, Status.FALSE, stack.reason, stack.message)
    seen = {named: observation.gateway} if observation.gateway and not observation.gateway.absent else {}
    failure = out_of_sync("", {**seen, **observation.remotes})
    if observation.address:
        last = f"last known address {observation.address['address']}, {failure}" if failure else ""
        plain = _PLAIN if observation.encrypts and not observation.address.get("mutualTLS") else ""
        found = last or plain
        caveat = stack.message if stack else ""
        return Condition(kind, Status.TRUE, Reason.BACKEND_HEALTHY, sentences(found, caveat) if caveat else found)
    why = _why_no_kinds(observation) or failure or _why_no_address(observation, named)
    return Condition(kind, Status.FALSE, Reason.INSTALLING, why)


def _why_no_kinds(observation: ClusterObservation) -> str:
    """Return which kinds of the gateway the cluster lacks, or why that is not known; "" if it has all of them."""
    if observation.lacks:
        found = f"the cluster has no kinds of {' and '.join(observation.lacks)}"
        return sentences(found, "Install Envoy Gateway and its CRDs there.")
    absent = observation.gateway and observation.gateway.absent
    unknown = {called(each.wanted): each for each in observation.kinds.values() if not each.absent}
    return out_of_sync("", unknown) if absent and observation.lacks is None else ""


#: How a Kubernetes client says that it cannot run what a kubeconfig gets its credentials by.
_RUNS_A_COMMAND: Final = re.compile(r"getting credentials: (?:decoding|exec)|exec: |exec plugin", re.IGNORECASE)
#: Of a Gateway that serves, and is not ours.
_PLAIN = (
    "Requests to the cluster are not encrypted: its Gateway is not Modelplane's. Drain the cluster and delete that "
    "Gateway, and Modelplane makes its own"
)


#: Of one whose address is not used.
_OUTER: Final = "Give it one by which other clusters reach it."


def _why_no_address(observation: ClusterObservation, named: str) -> str:
    gateway = observation.gateway
    if gateway is None or gateway.absent or not gateway.manifest:
        if observation.parts:
            waiting = sorted(name.removeprefix(PART) for name, ready in observation.parts.items() if not ready)
            return f"{named} is being made" + (f"; it waits for: {', '.join(waiting)}" if waiting else "")
        if other := observation.sharing.of_another(observation.cluster):
            return f"{named} does not exist. InferenceCluster {other}, which has the cluster, makes it"
        if observation.encrypts:
            return f"{named} is made next"
        return f"{named} does not exist. Modelplane makes it once InferenceGateway default publishes status.caBundle"
    obstacles = "; ".join(f"{named}: {each}" for each in gateway_obstacles(gateway.manifest))
    if lacks_address(gateway.manifest):
        return sentences(obstacles, NO_LOAD_BALANCER)
    inner = inner_address(gateway.manifest)
    why = sentences(f"{named} has the address {inner}, which leads into the control cluster", _OUTER) if inner else ""
    return obstacles or why or f"{named} has no address yet"


def held(cluster: Object, observation: ClusterObservation) -> dict[str, Any]:
    """Return the status of a cluster with an invalid spec: unchanged except for what is observed now."""
    current = {
        "gateway": dict(observation.address),
        "clusterUID": observation.uid,
        "sharedWith": _shared_with(observation),
    }
    kept = {field: value for field, value in last_status(cluster).items() if field not in current}
    return kept | {field: value for field, value in current.items() if value}


def committed(
    entries: Sequence[Mapping[str, Any]], last: Mapping[str, Any], residents: Residents | None
) -> dict[str, Any]:
    """Return the fields of a status that depend on replicas: those of the last one while the replicas are not known."""
    found = None if residents is None else commit(entries, residents)
    return {
        "gpuPools": _pools(entries, last, found),
        "replicas": last.get("replicas") if found is None else found.replicas,
        "charges": _charges(last, found),
    }


def published_pools(last: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the pools that were published before, by name."""
    return {text(entry.get("name")): entry for entry in mappings(last.get("gpuPools"))}


def _pools(
    entries: Sequence[Mapping[str, Any]], last: Mapping[str, Any], found: Commitments | None
) -> list[dict[str, Any]]:
    """Return the pools' entries with their commitments; the last ones while the replicas are not known."""
    if found is None:
        before = published_pools(last)
        kept = (_committed(entry, mapping(before.get(entry["name"]))) for entry in entries)
        return [
            {**entry, **{field: value for field, value in each.items() if value is not None}}
            for entry, each in zip(entries, kept, strict=True)
        ]
    texts = (None,) * len(entries) if found.charged is None else found.charged
    plain = map(without_committed, entries)
    return [
        {**entry, "devicesCommitted": dict(held), **names} | ({} if charged is None else {"charged": charged})
        for entry, held, names, charged in zip(plain, found.devices, _name_holders(found.holders), texts, strict=True)
    ]


def _committed(entry: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last commitments of a pool, without charges if the units of its nodes have changed."""
    same = entry.get("node") == before.get("node")
    return {field: before.get(field) for field in COMMITTED if same or field not in _IN_UNITS}


def _name_holders(holders: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return for each pool the named holders and the number of others, {} for a pool without holders."""
    left, found = _MOST_NAMES, []
    for of_pool in holders:
        named: list[str] = []
        for name in of_pool[:_MOST_HOLDERS]:
            if len(name) > left:
                break
            named.append(name)
            left -= len(name)
        more = len(of_pool) - len(named)
        found.append(({"holders": named} if named else {}) | ({"moreHolders": more} if more else {}))
    return found


def _charges(last: Mapping[str, Any], found: Commitments | None) -> Mapping[str, Any] | None:
    """Return the digest of the replicas that the pools' charges are computed from, and whether these are published."""
    if found is None:
        return last.get("charges")
    return {"residents": found.digest, "published": found.charged is not None}


def _shared_with(observation: ClusterObservation) -> list[str] | None:
    """Return the other InferenceClusters of the cluster; the one that has it lists them once it could be deleted."""
    sharing = observation.sharing
    if not sharing.holder:
        return observation.last.get("sharedWith")
    listed = observation.lasting or sharing.of_another(observation.cluster)
    return list(sharing.others[:_MOST_SHARING]) or None if listed else None


def _cache(provision: Provision) -> dict[str, Any] | None:
    """Return the published storage for caches, None without a storage class."""
    if not provision.storage_class:
        return None
    user = {"runAsUser": provision.cache_user} if provision.cache_user else {}
    return {"storageClassName": provision.storage_class, **user}


def status(
    request: Request,
    observation: ClusterObservation,
    pools: Published,
    provision: Provision,
    shared: Shared,
) -> dict[str, Any]:
    """Return the complete status: a field that is left out is removed.

    The provider config is published once it exists, and then always.
    """
    residents = placed(request)
    config = {"name": provider_config(request.composite.name)}
    exists = CONFIG in request.observed or observation.last.get("providerConfigRef")
    fields = {
        "namespace": SYSTEM_NAMESPACE,
        "clusterUID": observation.uid or None,
        "sharedWith": _shared_with(observation),
        "teamIsolation": shared.isolation,
        "providerConfigRef": config if exists else None,
        "gateway": dict(observation.address) or None,
        "cache": _cache(provision),
        **committed(pools.entries, observation.last, residents),
    }
    return {field: value for field, value in fields.items() if value is not None}
