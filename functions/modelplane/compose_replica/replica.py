"""Composes a ModelReplica: the objects of its engines on its cluster, and its status from what they report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from modelplane.compose_replica import builder, by_hand, ending, report, rolling_update, weights, workloads
from modelplane.compose_replica.claims import is_claim_template, used_templates
from modelplane.compose_replica.cluster_hold import compose_holds
from modelplane.compose_replica.findings import ReplicaFindings
from modelplane.compose_replica.handover import keep_answering
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.obstacle import Obstacle, cluster_mismatch, denied_metadata, reach
from modelplane.compose_replica.picker import observed_name
from modelplane.compose_replica.readiness import Readiness, readiness_of
from modelplane.compose_replica.source_copies import SourceCopies
from modelplane.compose_replica.spec import ReplicaSpec, read_spec
from modelplane.compose_replica.weights import Mount
from modelplane.composing import requirements as require
from modelplane.composing.cluster_reference import with_kept_reference
from modelplane.composing.hold import held, hold_all
from modelplane.composing.namespace import find_unclaimed
from modelplane.composing.orphan import is_orphaning, only_observes, policy_of, waits, with_policy
from modelplane.composing.pod_messages import REPLICA_PODS
from modelplane.composing.references import arrange
from modelplane.composing.site import Site
from modelplane.model.conditions import Reason, Status
from modelplane.model.deployment import Role
from modelplane.model.fleet import Walls
from modelplane.model.names import LABEL_DEPLOYMENT, LABEL_GANG, LABEL_WORKLOAD
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.bounds import find_over_bound
from modelplane.observed.cluster import read_cluster, read_walls
from modelplane.observed.fields import labels, mapping
from modelplane.observed.remote import Remote, read_remote
from modelplane.observed.stamp import stamp_digest
from modelplane.step import AWAITING, SETTLED, Desired, Object, Request, Requirement, Result

#: Composition resource names of the team's namespace and of its NetworkPolicy.
_NAMESPACE = "namespace"
POLICY = "network-policy"
#: Composition resource name of the collection that observes the pods.
_PODS = "pods"


def _instance(request: Request, spec: ReplicaSpec, config: str, volume: str, order: builder.Order) -> Instance:
    replica = request.composite
    cluster = request.one(require.cluster(spec.cluster))
    walls = read_walls(cluster) if isinstance(cluster, Object) else Walls()
    site = Site(replica.namespace, spec.cluster, config, walls)
    deployment = labels(replica).get(LABEL_DEPLOYMENT, "")
    drops_all = builder.drops_all(request.observed, order, asked=walls.drops_all)
    picker = observed_name(_remotes(request))
    return Instance(site, replica.name, deployment, volume, spec.drain_seconds, drops_all, picker)


def _observe_pods(request: Request, spec: ReplicaSpec, site: Site, workloads: list[str]) -> dict[str, Any]:
    """Return the collection that observes the pods of these workloads; of gangs, only the observed copies."""
    expressions = [{"key": LABEL_WORKLOAD, "operator": "In", "values": workloads}]
    gangs = [engine for engine in spec.engines if Role.WORKER in engine.roles]
    beyond = {copy for engine in gangs for copy in range(engine.observed_copies, engine.copies)}
    if beyond:
        copies = [str(copy) for copy in sorted(beyond)]
        expressions.append({"key": LABEL_GANG, "operator": "NotIn", "values": copies})
    return REPLICA_PODS.observe(site, request.composite, {"matchExpressions": expressions})


def _manifests(objects: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the manifest that each Object applies to the cluster, without Objects that only observe."""
    specs = {resource: mapping(body["spec"]) for resource, body in objects.items() if body["kind"] == "Object"}
    return {
        resource: mapping(mapping(spec.get("forProvider")).get("manifest"))
        for resource, spec in specs.items()
        if not only_observes(objects[resource])
    }


def _with_policies(
    request: Request, found: ReplicaFindings, objects: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the Objects with the policy of their cluster, and what is no longer desired until it has that too.

    One that only observed for a while, and was deleted so, would leave on the cluster what it represents.
    """
    cluster = found.spec.cluster if found.spec else ""
    left = {name: body for name, body in hold_all(request).items() if name not in objects}
    first = {name: with_policy(body, cluster, found.policy) for name, body in left.items()}
    return {name: with_policy(body, cluster, found.policy) for name, body in objects.items()} | {
        name: body for name, body in first.items() if body != left[name]
    }


def _result(
    request: Request,
    found: ReplicaFindings,
    objects: Mapping[str, Mapping[str, Any]],
    requirements: tuple[Requirement, ...] = (),
) -> Result:
    def is_ready(resource: str) -> bool:
        return resource in found.states and found.states[resource].complete

    if _PODS in objects:
        requirements = (*requirements, REPLICA_PODS.requirement(found.replica))
    conditions = report.conditions(found)
    accepted = all(condition.status is Status.TRUE for condition in conditions)
    settled = accepted and found.complete and not found.sync_failure
    return Result(
        desired={
            resource: Desired.of(body, ready=is_ready(resource))
            for resource, body in _with_policies(request, found, objects).items()
        },
        status=report.status(found, conditions[0]),
        conditions=conditions,
        requirements=requirements,
        ttl=SETTLED if settled else AWAITING,
        ready=found.serves,
        cacheable=True,
    )


def _hold(
    request: Request,
    spec: ReplicaSpec | None,
    obstacle: Obstacle,
    requirements: tuple[Requirement, ...] = (),
) -> Result:
    """Return a result that holds all observed resources and reports the obstacle."""
    objects = hold_all(request)
    return _result(request, _findings(request, spec, objects, obstacle), objects, requirements)


def _find_refusal(request: Request, spec: ReplicaSpec) -> Obstacle | None:
    """Return why a hand-written replica may not run; one whose engines serve may, even if that is not recorded."""
    found = by_hand.find_refusal(request)
    return None if found is None or _findings(request, spec, hold_all(request)).serves else found


def _drop(request: Request, spec: ReplicaSpec, obstacle: Obstacle, requirements: tuple[Requirement, ...]) -> Result:
    """Return a result that composes nothing, for a replica that never served."""
    return _result(request, _findings(request, spec, {}, obstacle), {}, requirements)


def _findings(
    request: Request,
    spec: ReplicaSpec | None,
    objects: Mapping[str, Mapping[str, Any]],
    obstacle: Obstacle | None = None,
    states: Mapping[str, Readiness] | None = None,
) -> ReplicaFindings:
    remotes, cluster = _remotes(request), request.one(require.cluster(spec.cluster)) if spec else Gap.NOT_FETCHED
    return ReplicaFindings(
        request.composite,
        spec,
        _manifests(objects),
        remotes,
        _states(remotes) if states is None else states,
        obstacle,
        builder=builder.oldest(request.observed),
        ran=builder.ran(request.observed),
        pods=REPLICA_PODS.messages(request),
        crashed_pods=REPLICA_PODS.crashed(request),
        orphaning=is_orphaning(cluster),
        policy=policy_of(cluster),
    )


def _remotes(request: Request) -> dict[str, Remote]:
    return {resource: read_remote(found) for resource, found in request.observed.items()}


def _states(remotes: Mapping[str, Remote]) -> dict[str, Readiness]:
    return {resource: readiness_of(resource, remotes) for resource in remotes}


def _order(request: Request, spec: ReplicaSpec, mount: Mount) -> builder.Order:
    """Return the input of the builder for the replica's present spec."""
    served = mapping(request.composite.body.get("status")).get("servedEngines")
    digest = stamp_digest(request.composite, mount.volume)
    return builder.Order(digest, unchanged=served == list(spec.block), least=spec.builder)


def _find_denied(request: Request, spec: ReplicaSpec, order: builder.Order) -> Obstacle | None:
    """Return that the cluster denies metadata of the pods; pods that run, or ran, with exactly this are exempt."""
    cluster = request.one(require.cluster(spec.cluster))
    served = mapping(request.composite.body.get("status")).get("servedStamp")
    if not isinstance(cluster, Object) or order.unchanged or order.digest in (served, builder.ran(request.observed)):
        return None
    return denied_metadata(spec, read_cluster(cluster))


def _find_unclaimed(request: Request, site: Site) -> Obstacle | None:
    """Return why nothing may be created yet in the team's namespace; a replica with objects there is exempt."""
    seen = request.observed.get(_NAMESPACE)
    if request.observed.keys() - {_NAMESPACE}:
        return None
    why = find_unclaimed(site.team, read_remote(seen) if seen else None)
    return Obstacle(Reason.WAITING_FOR_CLUSTER, why) if why else None


def _resolve(
    request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote], copies: SourceCopies
) -> tuple[str, Mount] | Obstacle:
    """Return how the cluster is reached and which volume is mounted, or the first obstacle to composing."""
    if skew := builder.skew(request.observed, spec.builder):
        return Obstacle(Reason.DEPLOYING, skew)
    if wrong := cluster_mismatch(request.composite, spec, remotes):
        return wrong
    config = reach(spec, request.one(require.cluster(spec.cluster)), remotes.values())
    if isinstance(config, Obstacle):
        return config
    if missing := copies.obstacle():
        return missing
    mount = weights.choose(request, spec, remotes)
    return mount if isinstance(mount, Obstacle) else (config, mount)


def _compose(request: Request, spec: ReplicaSpec) -> Result:
    remotes = _remotes(request)
    cluster, copies = require.cluster(spec.cluster), SourceCopies.of(request, spec.cluster)
    requirements = (cluster, *copies.requirements(), *weights.needs(request, spec, remotes), *by_hand.needs(request))
    if refused := _find_refusal(request, spec):
        ends = refused.ends and not waits(request.one(cluster))
        return (_drop if ends else _hold)(request, spec, refused, requirements)
    found = _resolve(request, spec, remotes, copies)
    if isinstance(found, Obstacle):
        return _hold(request, spec, found, requirements)
    config, mount = found
    order, seen = _order(request, spec, mount), remotes.get(_NAMESPACE)
    instance = _instance(request, spec, config, mount.volume, order)
    if unclaimed := _find_unclaimed(request, instance.site):
        claim = {_NAMESPACE: instance.site.claim_namespace(seen)}
        return _result(request, _findings(request, spec, {}, unclaimed), claim, requirements)
    if denied := _find_denied(request, spec, order):
        return _hold(request, spec, denied, requirements)
    objects = builder.build(workloads.compose(instance, spec), request.observed, order)
    objects |= rolling_update.compose(objects, remotes, edited=builder.ran(request.observed) != order.digest)
    objects |= copies.objects(instance.site)
    objects |= weights.protect(request, spec, remotes)
    objects[_NAMESPACE] = instance.site.place_namespace(seen)
    if policy := instance.site.place_network_policy(seen, remotes.get(POLICY)):
        objects[POLICY] = policy
    states = _states(remotes)
    objects |= keep_answering(objects, request.observed, remotes, states)
    objects |= compose_holds(request.observed, request.one(cluster), instance.site)
    findings = replace(_findings(request, spec, objects, states=states), mount=mount, stamp=order.digest)
    if unready := findings.workloads_to_observe:
        objects[_PODS] = _observe_pods(request, spec, instance.site, unready)
    objects = {
        resource: with_kept_reference(body, request.observed.get(resource)) for resource, body in objects.items()
    }
    templates = {name: held(request.observed[name].body) for name, each in remotes.items() if is_claim_template(each)}
    return _result(request, findings, arrange(objects, {}, used_templates(remotes), templates), requirements)


def _end(request: Request, spec: ReplicaSpec) -> Result:
    """Return the result for an ending replica; it stays whole while nothing may be changed on its cluster."""
    stays = waits(request.one(require.cluster(spec.cluster)))
    objects = hold_all(request) if stays else ending.remaining(request)
    found = replace(_findings(request, spec, objects), ended=ending.is_over(request))
    return _result(request, found, objects, (require.cluster(spec.cluster), *ending.requirements(request)))


def compose(request: Request) -> Result:
    """Return the replica's Objects: composed if its cluster can be reached, else held as observed."""
    spec = read_spec(request.composite)
    if isinstance(spec, Malformed):
        return _hold(request, None, Obstacle(Reason.DEPLOYING, str(spec)))
    if spec.ending:
        return _end(request, spec)
    if over := find_over_bound(request.composite):
        found = Obstacle(Reason.INVALID_ENGINE, f"{over}; make it smaller")
        return _hold(request, spec, found, (require.cluster(spec.cluster),))
    return _compose(request, spec)
