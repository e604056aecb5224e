"""The sources that are clouds: a ManagedCluster is composed, and what its status says is read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from modelplane.api.inferencecluster import InferenceClusterSpec, NodePool
from modelplane.clouds import Cloud, cluster_key
from modelplane.compose_cluster import gateway
from modelplane.compose_cluster.commitments import hold_nodes, placed
from modelplane.compose_cluster.sources.source import (
    BARRIER,
    CONFIG,
    ClusterSource,
    Kubeconfig,
    PoolState,
    Provision,
    Resource,
    SecretKey,
)
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.model.conditions import UNUSABLE_PROVIDER, ManagedCondition, Reason, Status
from modelplane.model.names import API_VERSION, LABEL_NETWORK, SYSTEM_NAMESPACE
from modelplane.model.observation import Malformed
from modelplane.observed.fields import condition, count, is_true, mapping, mappings, text
from modelplane.step import Manifest, Object, Request

RESOURCE: Final = "managed-cluster"
_REASONS: Final = (Reason.INVALID_NODE_POOL, *UNUSABLE_PROVIDER)
#: Most ModelReplicas that are named as holders of a pool.
_NAMED: Final = 8
#: The fields of a node pool that pass as they are.
_SAME: Final = ("nodeCount", "minNodeCount", "maxNodeCount", "zones", "reservation", "allowRolling")


def source_of(name: str, cloud: Cloud) -> ClusterSource:
    """Return the source of a cloud."""

    def provision(request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
        return _provision(request, spec, name, cloud)

    return provision


def _provision(request: Request, spec: InferenceClusterSpec, name: str, cloud: Cloud) -> Provision | Malformed:
    pools, own = spec.nodePools or [], request.composite.name
    if not _settings(request, cloud):
        return Malformed("InferenceCluster", own, f"spec.cluster.{cloud.block}", f"is required by source {name}")
    for pool in pools:
        if wrong := _wrong_class(request, pool, name, cloud):
            field = f"spec.nodePools[{pool.name}].className"
            return Malformed("InferenceCluster", own, field, wrong, section="nodePools")
    seen = request.observed.get(RESOURCE)
    body = _body(request, pools, name, cloud, seen)
    rows = {text(row.get("name")): row for row in mappings(_status(seen).get("pools"))}
    ready = seen is not None and is_true(seen, ManagedCondition.CLOUD_READY)
    facts = mapping(_status(seen).get("facts"))
    return Provision(
        kubeconfig=_kubeconfig(_status(seen)),
        pools=_states(request, pools, body, rows),
        storage_class=text(mapping(_status(seen).get("storage")).get("class")) or None,
        resources={RESOURCE: Resource(body, ready=ready)},
        missing=_missing(seen),
        reason=_reason(seen),
        outlives={RESOURCE: (CONFIG, BARRIER), BARRIER: (gateway.RESOURCE,)},
        made=True,
        driver_root=text(facts.get("driverRoot")),
        pods=count(facts.get("podsPerNode")) or None,
    )


def _settings(request: Request, cloud: Cloud) -> Mapping[str, Any]:
    return mapping(mapping(mapping(request.composite.body.get("spec")).get("cluster")).get(cloud.block))


def _status(seen: Object | None) -> Mapping[str, Any]:
    return mapping(seen.body.get("status")) if seen else {}


def _wrong_class(request: Request, pool: NodePool, name: str, cloud: Cloud) -> str:
    """Return why a pool cannot be made of its class, "" if it can, or the class is not there."""
    found = request.one(require.inference_class(pool.className))
    if not isinstance(found, Object) or _recipe(found, name, cloud):
        return ""
    provisioning = mapping(mapping(found.body.get("spec")).get("provisioning"))
    has = f"is for {text(provisioning.get('provider'))}" if provisioning else "has none"
    return (
        f"InferenceClass {pool.className} says in spec.provisioning how nodes are made, and it {has}; "
        f"name a class with spec.provisioning.{cloud.block}"
    )


def _recipe(found: Object, name: str, cloud: Cloud) -> Mapping[str, Any]:
    provisioning = mapping(mapping(found.body.get("spec")).get("provisioning"))
    return mapping(provisioning.get(cloud.block)) if provisioning.get("provider") == name else {}


def _body(request: Request, pools: Sequence[NodePool], name: str, cloud: Cloud, seen: Object | None) -> Manifest:
    """Return the ManagedCluster; held while it is not known what replicas hold of one that exists."""
    residents = placed(request)
    if seen and residents is None:
        return held(seen.body)
    composite = request.composite
    published = list(mappings(mapping(composite.body.get("status")).get("gpuPools")))
    holds = hold_nodes(published, residents) if residents else {}
    before = _pools_of(seen)
    asked = [_pool(request, pool, name, cloud, before.get(pool.name)) for pool in pools]
    known = {pool.name for pool in pools}
    left = [{**each, "leaving": True} for called, each in before.items() if called not in known and called in holds]
    settings = _settings(request, cloud)
    key = text(mapping(mapping(seen.body if seen else {}).get("spec")).get("key"))
    network = cloud.network(composite.name, settings).partition("/")[0]
    labels = {"labels": {LABEL_NETWORK: network}} if network else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "ManagedCluster",
        "metadata": {"name": composite.name, "namespace": SYSTEM_NAMESPACE, **labels},
        "spec": {
            "clusterName": composite.name,
            "key": key or cluster_key(text(composite.metadata.get("uid"))),
            "source": name,
            "settings": dict(settings),
            "pools": [_with_hold(each, holds.get(each["name"])) for each in (*asked, *left) if each],
        },
    }


def _pools_of(seen: Object | None) -> dict[str, dict[str, Any]]:
    spec = mapping(seen.body.get("spec")) if seen else {}
    return {text(each.get("name")): dict(each) for each in mappings(spec.get("pools"))}


def _pool(
    request: Request, pool: NodePool, name: str, cloud: Cloud, before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a pool with the recipe of its class; with the last one while there is no class, {} if there is none."""
    found = request.one(require.inference_class(pool.className))
    recipe = _recipe(found, name, cloud) if isinstance(found, Object) else mapping((before or {}).get("recipe"))
    if not recipe:
        return {}
    given = pool.model_dump(mode="json", exclude_none=True)
    return {"name": pool.name, "recipe": dict(recipe)} | {field: given[field] for field in _SAME if field in given}


def _with_hold(pool: Mapping[str, Any], found: tuple[int, tuple[str, ...]] | None) -> dict[str, Any]:
    """Return a pool with what replicas hold of it. One that is no longer asked for has always been found held."""
    return {**pool, **({"heldNodes": found[0], "heldBy": list(found[1][:_NAMED])} if found else {})}


def _kubeconfig(status: Mapping[str, Any]) -> Kubeconfig | None:
    found, identity = mapping(status.get("kubeconfig")), mapping(status.get("identity"))
    if not found:
        return None
    secret = SecretKey(text(found.get("name")), text(found.get("key")))
    if not identity:
        return Kubeconfig(secret)
    return Kubeconfig(secret, (text(identity.get("type")), SecretKey(text(identity["name"]), text(identity["key"]))))


def _states(
    request: Request, pools: Sequence[NodePool], body: Manifest, rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, PoolState]:
    """Return the state of each pool; of those that leave only what is known of before."""
    composed = {each["name"]: each for each in body["spec"].get("pools") or ()}
    published = {text(each.get("name")): each for each in mappings(_last(request).get("gpuPools"))}
    found = {}
    for pool in pools:
        asked, row = composed.get(pool.name) or {}, rows.get(pool.name) or {}
        nodes = max(_nodes(pool), count(asked.get("heldNodes")))
        found[pool.name] = PoolState(nodes, text(row.get("message")))
    for called, each in composed.items():
        if each.get("leaving"):
            row = rows.get(called) or {}
            found[called] = PoolState(
                count(mapping(published.get(called)).get("nodes")), text(row.get("message")), leaving=True
            )
    return found


def _last(request: Request) -> Mapping[str, Any]:
    return mapping(request.composite.body.get("status"))


def _nodes(pool: NodePool) -> int:
    counts = (pool.maxNodeCount, pool.nodeCount, pool.minNodeCount)
    return next((each for each in counts if each is not None), 1)


def _missing(seen: Object | None) -> tuple[str, ...]:
    """Return what the cluster waits for; messages about pools alone are said of the pools."""
    if seen is None:
        return ("the ManagedCluster is being made",)
    found = condition(seen, ManagedCondition.CLOUD_READY)
    if not found:
        return ("the ManagedCluster has not been reconciled yet",)
    return (text(found.get("message")) or "it is being made",) if found.get("status") != Status.TRUE else ()


def _reason(seen: Object | None) -> Reason:
    said = text(condition(seen, ManagedCondition.CLOUD_READY).get("reason")) if seen else ""
    return next((each for each in _REASONS if each == said), Reason.PROVISIONING)
