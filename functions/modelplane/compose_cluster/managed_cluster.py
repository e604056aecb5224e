"""Composes a ManagedCluster: what its cloud plans of the cluster, its network and its node pools.

What was composed is held while the plan cannot be made. Only a node pool that is asked for no more is left out, and so
deleted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from modelplane.api.managedcluster import ManagedClusterSpec, Pool
from modelplane.clouds import CLOUDS, Account, Asked, AskedPool, Cloud, Held, Plan, PoolReport
from modelplane.compose_cluster.provider_check import ProviderCheck, Unusable
from modelplane.composing import requirements as require
from modelplane.composing.hold import held, held_result, last_status
from modelplane.composing.messages import sentences
from modelplane.kube.managed import managed_resource
from modelplane.kube.object import ORPHANED, remote_object
from modelplane.model.conditions import Condition, ManagedCondition, Reason, Status
from modelplane.model.names import SYSTEM_NAMESPACE, provider_config
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.fields import mapping, text
from modelplane.observed.managed import has_acted, read_account, read_managed
from modelplane.observed.strict import read_strictly
from modelplane.step import ALONE, AWAITING, Desired, Manifest, Object, Request, Requirement, Result, SchemaRequirement

#: Composition resource names of Objects in the cluster itself begin with this.
INSIDE: Final = "inside-"
_PAGE: Final = "docs/make-a-cluster.md"
#: Longest message of a pool in the status.
_LONGEST: Final = 1024


def provider_of(source: str, cloud: Cloud) -> ProviderCheck:
    """Return what tells whether the provider of a cloud can be used."""
    group = cloud.main.api_version.partition("/")[0]
    definition = f"{cloud.main.kind.lower()}s.{group}"
    return ProviderCheck(
        called=cloud.provider,
        kinds=schemas_of(cloud),
        main=cloud.main.kind,
        install=f"Install the Configuration modelplane-clouds, which has the provider of {source} ({_PAGE}).",
        provider=Requirement(
            "cloud-provider", "pkg.crossplane.io/v1", "Provider", match_name=f"upbound-{cloud.provider}"
        ),
        definition=Requirement(
            "cloud-definition",
            "apiextensions.crossplane.io/v1alpha1",
            "ManagedResourceDefinition",
            match_name=definition,
        ),
        acted=has_acted,
    )


def schemas_of(cloud: Cloud) -> tuple[SchemaRequirement, ...]:
    """Return the requirements that tell whether the kinds of a cloud exist."""
    return tuple(SchemaRequirement(f"cloud-{each.kind.lower()}", each.api_version, each.kind) for each in cloud.kinds)


def compose(request: Request, clouds: Mapping[str, Cloud] = CLOUDS) -> Result:
    """Return what is composed for a made cluster; what exists is held if the spec or the provider is unusable."""
    spec = read_strictly(ManagedClusterSpec, request.composite)
    if isinstance(spec, Malformed):
        return held_result(request, _not_ready(Reason.PROVISIONING, str(spec)))
    cloud = clouds.get(spec.source)
    if cloud is None:
        why = f"source {spec.source} is not composed by this version, which composes {', '.join(sorted(clouds))}"
        return held_result(request, _not_ready(Reason.PROVISIONING, why))
    return _compose(request, spec, cloud)


def _compose(request: Request, spec: ManagedClusterSpec, cloud: Cloud) -> Result:
    check, account = provider_of(spec.source, cloud), cloud.account(spec.settings)
    needs, found = check.requirements(request), check.unusable(request)
    if found:
        return _held(request, cloud, needs, found)
    config, network = _config(account), cloud.network(spec.clusterName, spec.settings)
    needs += (config, require.same_network(network)) if network else (config,)
    billed = _account(request, account, config)
    if isinstance(billed, Unusable):
        return _held(request, cloud, needs, billed)
    if network and (taken := _taken(request, network)):
        return _held(request, cloud, needs, taken)
    asked = _asked(request, spec, billed)
    seen = {name: read_managed(each) for name, each in request.observed.items()}
    plan = cloud.plan(asked, seen)
    if plan.refused:
        message = sentences(*plan.refused, "Existing resources are unchanged" if request.observed else "")
        return _held(request, cloud, needs, Unusable(Reason.INVALID_NODE_POOL, message))
    return _result(request, spec, cloud, plan, needs)


def _result(
    request: Request, spec: ManagedClusterSpec, cloud: Cloud, plan: Plan, needs: tuple[Requirement, ...]
) -> Result:
    by, observed = _by(cloud.account(spec.settings)), request.observed
    bodies: dict[str, Manifest] = {}
    for name, each in plan.resources.items():
        # What exists keeps its name, whatever a later version would call it.
        called = observed[name].name if name in observed else each.name
        bodies[name] = managed_resource(replace(each, name=called), config=by)
    config = provider_config(spec.clusterName)
    inside = {f"{INSIDE}{name}": body for name, body in plan.inside.items()}
    kept = {name: held(found.body) for name, found in observed.items() if name.startswith(INSIDE)}
    objects = {
        name: remote_object(body, ORPHANED, namespace=SYSTEM_NAMESPACE, config=config) for name, body in inside.items()
    }
    status, last = _status(plan), last_status(request.composite)
    status = {field: last[field] for field in ("kubeconfig", "identity") if field in last} | status
    condition = _condition(plan, made="kubeconfig" in status)
    settled = condition.status is Status.TRUE and not condition.message
    return Result(
        desired={
            name: Desired.of(body, ready=name in observed and (name in objects or read_managed(observed[name]).ready))
            for name, body in {**bodies, **kept, **objects}.items()
        },
        status=status,
        conditions=(condition,),
        requirements=needs,
        schemas=schemas_of(cloud),
        ttl=ALONE if settled else AWAITING,
        ready=condition.status is Status.TRUE,
        cacheable=True,
    )


def _held(request: Request, cloud: Cloud, needs: tuple[Requirement, ...], why: Unusable) -> Result:
    reason = Reason.PROVISIONING if why.reason is Reason.INSTALLING else why.reason
    result = held_result(request, _not_ready(reason, why.message), needs=needs, schemas=schemas_of(cloud))
    return replace(result, fatal=why.message if why.lost else None, cacheable=True)


def _config(account: Account) -> Requirement:
    namespace = None if account.config.kind.startswith("Cluster") else SYSTEM_NAMESPACE
    return Requirement("account", account.config.api_version, account.config.kind, account.name, namespace=namespace)


def _by(account: Account) -> dict[str, str]:
    return {"kind": account.config.kind, "name": account.name}


def _account(request: Request, account: Account, config: Requirement) -> str | Unusable:
    """Return where the cloud bills, or why that is not known."""
    found, named = request.one(config), f"{account.config.kind} {account.name} ({account.config.api_version})"
    if found is Gap.NOT_FETCHED:
        return Unusable(Reason.PROVISIONING, f"{named} is not fetched yet")
    if not isinstance(found, Object):
        remedy = f"Create it ({_PAGE}), or name another in the credentials of spec.cluster"
        return Unusable(Reason.PROVISIONING, sentences(f"{named} does not exist", remedy))
    if billed := read_account(found, account.field):
        return billed
    return Unusable(Reason.PROVISIONING, f"{named} has no spec.{account.field}, {account.words}. Set it.")


def _taken(request: Request, network: str) -> Unusable | None:
    """Return that another cluster, which was made before, has the addresses; None for one that is made already."""
    others = request.all(require.same_network(network))
    if isinstance(others, Gap):
        return Unusable(Reason.PROVISIONING, "the networks of other clusters are not fetched yet")
    if request.observed:
        return None
    first = min(others, key=_age, default=None)
    if first is None or _age(first) >= _age(request.composite):
        return None
    cluster = text(mapping(first.body.get("spec")).get("clusterName"))
    remedy = "Make this one again with another spec.cluster.<cloud>.network.cidr"
    cause = f"the network {network} is that of InferenceCluster {cluster}, and both would have the same addresses"
    return Unusable(Reason.PROVISIONING, sentences(cause, remedy))


def _age(obj: Object) -> tuple[str, str]:
    return text(obj.metadata.get("creationTimestamp")), obj.name


def _asked(request: Request, spec: ManagedClusterSpec, account: str) -> Asked:
    return Asked(
        cluster=spec.clusterName,
        key=spec.key,
        settings=spec.settings,
        pools=tuple(map(_pool, spec.pools or ())),
        account=account,
        since=text(request.composite.metadata.get("creationTimestamp")),
    )


def _pool(pool: Pool) -> AskedPool:
    return AskedPool(
        name=pool.name,
        recipe=pool.recipe,
        node_count=pool.nodeCount,
        least=pool.minNodeCount,
        most=pool.maxNodeCount,
        zones=tuple(pool.zones or ()),
        reservation=pool.reservation or "",
        allow_rolling=bool(pool.allowRolling),
        leaving=bool(pool.leaving),
        held=Held(pool.heldNodes or 0, tuple(pool.heldBy or ())),
    )


def _not_ready(reason: Reason, message: str) -> Condition:
    return Condition(ManagedCondition.CLOUD_READY, Status.FALSE, reason, message)


def _condition(plan: Plan, *, made: bool) -> Condition:
    """Return CloudReady: whether the cluster is there. Of pools that do not come only the message says."""
    words = sentences(*(f"node pool {each.name}: {each.message}" for each in plan.pools if each.message))
    if any(each.invalid for each in plan.pools):
        return _not_ready(Reason.INVALID_NODE_POOL, words)
    if not made:
        return _not_ready(Reason.PROVISIONING, sentences(*plan.waits, words))
    return Condition(ManagedCondition.CLOUD_READY, Status.TRUE, Reason.MADE, words)


def _status(plan: Plan) -> dict[str, Any]:
    facts = plan.facts
    status: dict[str, Any] = {
        "pools": [_row(each) for each in plan.pools],
        "storage": {"class": plan.storage_class} if plan.storage_class else None,
        "facts": {
            "driverRoot": facts.driver_root,
            "podsPerNode": facts.pods,
            **({"serviceAnnotations": dict(facts.annotations)} if facts.annotations else {}),
        },
    }
    if plan.kubeconfig:
        status["kubeconfig"] = {"name": plan.kubeconfig.name, "key": plan.kubeconfig.key}
        if plan.identity:
            secret = plan.identity.secret
            status["identity"] = {"type": plan.identity.type, "name": secret.name, "key": secret.key}
    return {field: value for field, value in status.items() if value is not None}


def _row(report: PoolReport) -> dict[str, Any]:
    row: dict[str, Any] = {"name": report.name, "state": str(report.phase), "nodes": report.nodes}
    return (
        row
        | ({"held": list(report.held)} if report.held else {})
        | ({"message": report.message[:_LONGEST]} if report.message else {})
    )
