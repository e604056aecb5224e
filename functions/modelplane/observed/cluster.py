"""Reads an InferenceCluster as the scheduler sees it."""

from collections.abc import Mapping
from functools import lru_cache
from sys import getrefcount
from typing import Any, Final

from modelplane.cel import weigh_device
from modelplane.model.catalogue import Capabilities
from modelplane.model.conditions import ClusterCondition, Reason
from modelplane.model.fleet import Cluster, Effect, Egress, Isolation, Pool, Taint, TeamIsolation
from modelplane.model.names import ANNOTATION_ABANDON
from modelplane.observed.device import read_device
from modelplane.observed.fields import condition, count, deleting, is_true, labels, mapping, mappings, text, texts
from modelplane.observed.memo import kept_by_weight
from modelplane.observed.resources import read_node, read_pods
from modelplane.observed.tolerations import read_tolerations
from modelplane.scheduling.pools import layout, weigh_cluster, weigh_layout
from modelplane.step import Object


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@lru_cache(maxsize=1024)
def _interned(found: Capabilities) -> Capabilities:
    return found


def read_capabilities(declared: Any) -> Capabilities | None:
    """Return what a class or a pool declares, None for nothing; an unreadable field counts as not declared."""
    block = mapping(declared)
    if not block:
        return None
    precisions, capable = block.get("precisionSupport"), block.get("multiNodeCapable")
    return _interned(
        Capabilities(
            memory_per_gpu=text(block.get("memoryPerGpu")) or None,
            interconnect=text(block.get("interconnect")) or None,
            precisions=tuple(map(text, precisions)) if isinstance(precisions, list) else (),
            nvlink_domain_size=_whole(block.get("nvlinkDomainSize")),
            multi_node=capable if isinstance(capable, bool) else None,
            bandwidth=text(block.get("interNodeBandwidth")) or None,
            device=text(block.get("device")) or None,
        )
    )


def _nodes(entry: Mapping[str, Any]) -> int:
    """Return the nodes of a pool that replicas are placed on: those that are declared, and no more than its bound."""
    declared, bound = count(entry.get("nodes")), mapping(entry.get("bound")).get("nodes")
    return min(declared, count(bound)) if _whole(bound) is not None else declared


def _pools(published: Any) -> tuple[Pool, ...] | None:
    """Return the published pools in their order, None if they are missing or any of them cannot be read.

    One unreadable pool makes all unknown: in a list without it the pool would seem to be gone, and the replicas there
    would be replaced. That is meant to happen to those on a pool that is leaving, so it is left out.
    """
    if not isinstance(published, list) or not published:
        return None
    pools = []
    for entry in published:
        if mapping(entry).get("leaving") is True:
            continue
        name, declared = text(mapping(entry).get("name")), mapping(entry).get("devices")
        devices = [read_device(device) for device in mappings(declared)]
        readable = tuple(device for device in devices if not isinstance(device, str))
        if not name or not isinstance(declared, list) or len(readable) != len(declared):
            return None
        charged, capabilities = entry.get("charged"), read_capabilities(entry.get("capabilities"))
        taken = charged if isinstance(charged, str) else None
        tolerations = read_tolerations(entry.get("tolerations"))
        node = entry.get("node")
        on_node = read_node(node), read_pods(node)
        pools.append(Pool(name, _nodes(entry), readable, capabilities, taken, tolerations, *on_node))
    return tuple(pools)


def _taints(declared: Any) -> tuple[Taint, ...]:
    return tuple(
        Taint(text(taint.get("key")), Effect(taint["effect"]), text(taint.get("value")))
        for taint in mappings(declared)
        if taint.get("effect") in tuple(Effect)
    )


def _allowed(declared: Any) -> dict[str, str] | None:
    """Return the labels of namespaces that may use the cluster, None where all may."""
    if mapping(declared).get("from") != "Selector":
        return None
    wanted = mapping(mapping(mapping(declared).get("selector")).get("matchLabels"))
    return {key: text(value) for key, value in wanted.items()}


def read_team_isolation(obj: Object) -> TeamIsolation:
    """Return what isolates the teams on an InferenceCluster from each other.

    One that shares a cluster publishes the isolation of the InferenceCluster that has it: replicas of both are in the
    same namespaces.
    """
    stack = mapping(mapping(obj.body.get("spec")).get("stack"))
    published = mapping(obj.body.get("status")).get("teamIsolation")
    asked = stack if published is None else mapping(published)
    isolation, egress = asked.get("isolation"), asked.get("egress")
    return TeamIsolation(
        isolation=Isolation(isolation) if isolation in tuple(Isolation) else Isolation.NEW_NAMESPACES,
        gateway_cidrs=tuple(texts(asked.get("gatewayCIDRs"))),
        egress=Egress(egress) if egress in tuple(Egress) else None,
        egress_cidrs=tuple(texts(asked.get("egressCIDRs"))),
        enforces_pod_security=asked.get("podSecurity") == "Enforce",
        drops_all=stack.get("engineCapabilities") == "None",
    )


def is_abandoned(obj: Object) -> bool:
    """Tell whether an InferenceCluster is annotated as abandoned."""
    return mapping(obj.metadata.get("annotations")).get(ANNOTATION_ABANDON) == "true"


def made_uid(obj: Object) -> str:
    """Return the published uid of a cluster that Modelplane makes, "" of one that is brought.

    It changes when the cluster was deleted in its cloud and has been made anew.
    """
    source = mapping(mapping(obj.body.get("spec")).get("cluster")).get("source")
    return "" if source in (None, "Existing") else text(mapping(obj.body.get("status")).get("clusterUID"))


#: Reasons of ClusterReady for a kubeconfig that leads to a wrong cluster.
_MISTAKEN = (Reason.IDENTITY_CHANGED, Reason.DUPLICATE_CLUSTER, Reason.OTHER_INSTALLATION)


def mistaken(obj: Object) -> str:
    """Return why nothing new may be created on a cluster, "" if it may: it is a wrong one, or belongs to another."""
    found = condition(obj, ClusterCondition.CLUSTER_READY)
    return text(found.get("message")) if found.get("reason") in _MISTAKEN else ""


#: Reasons of ClusterReady for a cluster on which nothing may be written: it is another one, or of another installation.
_FOREIGN = (Reason.IDENTITY_CHANGED, Reason.OTHER_INSTALLATION)


def is_foreign(obj: Object) -> bool:
    """Tell whether nothing may be changed on a cluster: it is another one than before, or of another installation."""
    return condition(obj, ClusterCondition.CLUSTER_READY).get("reason") in _FOREIGN


#: References to a device or a layout that do not come from clusters: those of caches, and of the counting itself.
_OWN: Final = 6
#: Reasons of ClusterReady with which the state of the cluster's workloads is not known.
_OUT_OF_SIGHT = (Reason.UNREACHABLE, Reason.IDENTITY_CHANGED)


def _weigh(cluster: Cluster) -> int:
    """Return the bytes that a cluster keeps alive; a value that several clusters share is divided among them.

    The number of sharing clusters is taken from the reference count when a cluster is read. So a device is never
    counted with less than its weight in total, and a thousand clusters of one class do not count as a thousand classes.
    """
    pools, where = cluster.pools or (), layout(cluster)
    shared = [weigh_device(device) // max(1, getrefcount(device) - _OWN) for pool in pools for device in pool.devices]
    shared.append(weigh_layout(where) // max(1, getrefcount(where) - _OWN))
    return weigh_cluster(cluster) + sum(shared) + sum(len(pool.charged or "") for pool in pools)


@kept_by_weight(_weigh)
def read_cluster(obj: Object) -> Cluster:
    """Return the cluster; a field that is missing or unreadable reads as not Ready, no address, or unknown pools."""
    status = mapping(obj.body.get("status"))
    gateway = mapping(status.get("gateway"))
    spec = mapping(obj.body.get("spec"))
    return Cluster(
        name=obj.name,
        labels=labels(obj),
        ready=is_true(obj, "Ready"),
        answers=condition(obj, ClusterCondition.CLUSTER_READY).get("reason") not in _OUT_OF_SIGHT,
        address=text(gateway.get("hostname")) or text(gateway.get("address")) or None,
        mutual_tls=gateway.get("mutualTLS") is True,
        orphaned=is_abandoned(obj),
        foreign=is_foreign(obj),
        deleting=deleting(obj),
        taints=_taints(spec.get("taints")),
        pools=_pools(status.get("gpuPools")),
        stages_caches=bool(text(mapping(status.get("cache")).get("storageClassName"))),
        allowed=_allowed(spec.get("allowedNamespaces")),
        pod_metadata=tuple(texts(mapping(spec.get("stack")).get("podMetadataPrefixes"))),
        replicas=count(status.get("replicas")),
    )
