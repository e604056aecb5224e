"""Composes an InferenceCluster: its connection, what is observed there, and what it publishes for the scheduler."""

from collections.abc import Mapping
from dataclasses import replace

from modelplane.api.inferencecluster import InferenceClusterSpec
from modelplane.compose_cluster import (
    barrier,
    dns_name,
    gateway,
    gateway_kinds,
    identity,
    installation,
    inventory,
    pools,
    provisioning,
    report,
    sharing,
    stack,
)
from modelplane.compose_cluster.observation import PROBE, ClusterObservation, observe, probe
from modelplane.compose_cluster.sources import CONFIG, SOURCES, ClusterSource, Kubeconfig, Provision, Resource
from modelplane.composing import requirements as require
from modelplane.composing.hold import held, held_result, hold_all
from modelplane.composing.messages import sentences
from modelplane.composing.orphan import orphaned, resumed
from modelplane.kube.provider_config import cluster_provider_config, secret_key
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import provider_config
from modelplane.model.observation import Malformed
from modelplane.observed.cluster import is_abandoned
from modelplane.observed.fields import mapping, text
from modelplane.observed.strict import read_strictly
from modelplane.step import AWAITING, SETTLED, Desired, Event, Manifest, Request, Requirement, Result, Severity


def _hold(request: Request, reason: Reason, message: str) -> Result:
    """Return a result that holds all observed resources and reports the problem.

    Whether they write on the cluster, and leave there what they represent, follows from what is observed, as ever.
    """
    observation, kept = observe(request), "Existing resources are unchanged" if request.observed else ""
    wrong = observation.mistaken if observation.foreign else None
    message = sentences(wrong.message if wrong else "", message, kept)
    condition = Condition(ClusterCondition.CLUSTER_READY, Status.FALSE, wrong.reason if wrong else reason, message)
    status, backend = report.held(request.composite, observation), report.backend_ready(observation)
    needs = (*_sharing_requirements(request, observation), require.installation())
    objects = _held_objects(request, observation)
    result = held_result(request, condition, backend, status=status, needs=needs, objects=objects)
    desired = {name: replace(each, ready=observation.is_ready(name)) for name, each in result.desired.items()}
    return replace(result, desired=desired, cacheable=True)


def _held_objects(request: Request, observation: ClusterObservation) -> dict[str, Manifest]:
    """Return what is observed, held; of what all InferenceClusters of the cluster need, what belongs to others less."""
    kept, name = hold_all(request), request.composite.name
    shared = {each for each in kept if each == installation.RESOURCE or each in gateway.hold(request)}
    found = _of_others(request, provider_config(name), observation)
    if found is None:
        leave = _leaves(request, observation, made=observation.lasting)
        found = {each: orphaned(resumed(kept[each])) if leave else resumed(kept[each]) for each in shared}
    return (
        {each: body for each, body in kept.items() if each not in shared}
        | {each: body for each, body in found.items() if each in shared}
        | (stack.watched(request) if observation.of_others else stack.kept(request, known=observation.is_own))
    )


def _config(cluster: str, kubeconfig: Kubeconfig, labels: Mapping[str, str]) -> Manifest:
    """Return the ClusterProviderConfig of the cluster.

    No Usage orders its deletion: the Objects that use it are observe-only, or keep the InferenceCluster by a finalizer,
    and the provider keeps a config in use.
    """
    credentials = secret_key(kubeconfig.secret.name, kubeconfig.secret.key)
    cloud = None
    if kubeconfig.identity:
        kind, secret = kubeconfig.identity
        cloud = {"type": kind, **secret_key(secret.name, secret.key)}
    return cluster_provider_config(provider_config(cluster), credentials=credentials, identity=cloud, labels=labels)


def _bodies(
    request: Request, observation: ClusterObservation, provision: Provision, classes: set[str]
) -> dict[str, Manifest]:
    """Return the resources of every cluster; those that observe it once there is a ClusterProviderConfig."""
    name, seen = request.composite.name, request.observed.get(CONFIG)
    bodies: dict[str, Manifest] = dict(pools.protect(request, classes))
    if provision.kubeconfig:
        bodies[CONFIG] = _config(name, provision.kubeconfig, observation.config_labels)
    elif seen:
        bodies[CONFIG] = held(seen.body)
    if seen:
        config = provider_config(name)
        bodies[PROBE] = probe(config)
        bodies |= _shared(request, config, observation, made=provision.made)
        if not barrier.allows_gateway(request, provision):
            bodies[gateway.RESOURCE] = gateway.observe_gateway(config)
        bodies |= barrier.bodies(request, config, observation, provision)
        bodies |= inventory.bodies(config, observation)
        gone = observation.gateway and observation.gateway.synced is False and not observation.gateway.manifest
        if gone and not observation.parts:
            bodies |= gateway_kinds.bodies(config)
    return bodies


def _shared(request: Request, config: str, observation: ClusterObservation, *, made: bool) -> dict[str, Manifest]:
    """Return what all InferenceClusters of a cluster need there, composed by the one that has the cluster.

    Otherwise deleting one of them would delete it for the others.
    """
    found = _of_others(request, config, observation)
    if found is not None:
        return found
    leave = _leaves(request, observation, made=made)
    mark = installation.bodies(request, config, observation.mark, leave=leave)
    return {**mark, **_gateway(request, config, observation, leave=leave)}


def _of_others(request: Request, config: str, observation: ClusterObservation) -> dict[str, Manifest] | None:
    """Return what observes the Gateway and the mark of others, None if those of the cluster are the request's own.

    On another cluster than before, or one of another installation, they are only observed. There the own mark is
    created again if the other one is gone.
    """
    if observation.strays:
        return {**installation.watched(request, config), **gateway.watched(request, config)}
    if observation.foreign:
        mark = installation.bodies(request, config, observation.mark, leave=True)
        return {**mark, **gateway.watched(request, config)}
    if observation.sharing.of_another(request.composite.name):
        return {**installation.observe(config), **gateway.released(request, config)}
    return None


def _leaves(request: Request, observation: ClusterObservation, *, made: bool) -> bool:
    """Tell whether the Gateway and the mark stay on the cluster when the InferenceCluster is deleted."""
    found = observation.sharing
    return made or is_abandoned(request.composite) or bool(found.others) or not found.holder


def _gateway(request: Request, config: str, observation: ClusterObservation, *, leave: bool) -> dict[str, Manifest]:
    """Return the objects of the cluster's gateway; nothing new while it is not known whose cluster it is."""
    made = any(name.startswith(gateway.PART) for name in request.observed)
    probed = observation.probe and observation.probe.manifest
    known = observation.sharing.holder and not observation.mistaken and (made or probed)
    if known and installation.may_compose(request, observation.mark):
        absent = bool(observation.gateway and observation.gateway.absent)
        may_make = absent and observation.lacks == () and (not observation.stack or observation.stack.allows_gateway)
        bodies = gateway.bodies(request, config, observation.gateway, observation.parts, may_make=may_make)
    else:
        bodies = {gateway.RESOURCE: gateway.observe_gateway(config), **gateway.hold(request)}
    return {name: orphaned(body) for name, body in bodies.items()} if leave else bodies


def _sharing_requirements(request: Request, observation: ClusterObservation) -> list[Requirement]:
    """Return the requirements that tell who has the cluster, and what applies then."""
    needs = [*identity.requirements(identity.seen_uid(observation.probe) or observation.uid)]
    if has := observation.sharing.of_another(request.composite.name):
        needs.append(require.cluster(has))
    return needs


def _compose(request: Request, spec: InferenceClusterSpec, provision: Provision) -> Result:
    observation, node_pools, name = observe(request), spec.nodePools or [], request.composite.name
    classes = {pool.className for pool in node_pools}
    provisioning.check(provision)
    provision = provisioning.guarded(request, provision)
    published = pools.publish(request, node_pools, provision, report.published_pools(observation.last))
    published = inventory.bounded(request, observation, published, node_pools)
    needs = [require.inference_class(name) for name in sorted(classes)]
    needs += provisioning.requirements(request, provision)
    needs += _sharing_requirements(request, observation)
    shared = sharing.read(request, observation)
    named = dns_name.bodies(request, observation.address, mapping(observation.last.get("gateway")))
    resources = {
        resource: Resource(body, resource in request.observed and observation.is_ready(resource))
        for resource, body in {**_bodies(request, observation, provision, classes), **named}.items()
    }
    installs = stack.bodies(request, spec, provision, known=observation.is_own, observe_only=observation.of_others)
    resources |= {name: Resource(body, ready=name in request.observed) for name, body in installs.items()}
    resources |= {**provision.resources, **provisioning.order(request, provision)}
    resources |= provisioning.keep(request, provision, resources)
    conditions = report.cluster_ready(observation, published, provision, shared), report.backend_ready(observation)
    ready = all(condition.status is Status.TRUE for condition in conditions)
    return Result(
        desired={name: Desired.of(found.body, ready=found.ready) for name, found in resources.items()},
        status=report.status(request, observation, published, provision, shared),
        conditions=conditions,
        requirements=(*needs, require.residents(name), require.inference_gateway(), require.installation()),
        schemas=provision.kinds,
        ttl=SETTLED if ready else AWAITING,
        ready=ready,
        fatal=provisioning.unreadable(request, provision),
        events=_made_anew(observation) if provision.made else (),
        cacheable=True,
    )


def _made_anew(observation: ClusterObservation) -> tuple[Event, ...]:
    """Return the event that the cluster was made anew, in the pass that sees another uid."""
    before = identity.read_uid(observation.last.get("clusterUID"))
    if not identity.leads_elsewhere(observation.probe, before):
        return ()
    words = "the cluster was deleted in its cloud and has been made anew: what was on it is composed again"
    return (Event(Severity.WARNING, words),)


def _not_composed(source: str, sources: Mapping[str, ClusterSource]) -> str:
    composed = ", ".join(sorted(sources))
    found = f"spec.cluster.source {source} is not composed by this version of Modelplane, which composes {composed}"
    return sentences(found, "Set it to Existing, and name the kubeconfig in spec.cluster.existing.secretRef.")


def _hold_malformed(request: Request, found: Malformed) -> Result:
    reason = Reason.INVALID_NODE_POOL if found.section == "nodePools" else Reason.PROVISIONING
    return _hold(request, reason, str(found))


def compose(request: Request, sources: Mapping[str, ClusterSource] = SOURCES) -> Result:
    """Return the cluster's resources; hold the observed ones if the spec is invalid.

    The source is checked first: a stored cluster may have one that the XRD no longer admits.
    """
    cluster = request.composite
    source = text(mapping(mapping(cluster.body.get("spec")).get("cluster")).get("source"))
    if source and source not in sources:
        return _hold(request, Reason.PROVISIONING, _not_composed(source, sources))
    spec = read_strictly(InferenceClusterSpec, cluster)
    if isinstance(spec, Malformed):
        return _hold_malformed(request, spec)
    provision = sources[spec.cluster.source](request, spec)
    if isinstance(provision, Malformed):
        return _hold_malformed(request, provision)
    return _compose(request, spec, provision)
