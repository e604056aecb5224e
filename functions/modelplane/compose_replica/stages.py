"""The stages that compose a replica's objects, in order: each takes the objects so far, and returns those to be.

They decide nothing about whether a replica is composed (`replica`), and report nothing (`findings`, `report`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_replica import builder, edge, handover, rolling_update, weights, workloads
from modelplane.compose_replica.claims import is_claim_template, used_templates
from modelplane.compose_replica.cluster_hold import compose_holds, with_kept_reference
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.picker import compose_way_to_api_server
from modelplane.compose_replica.readiness import Readiness
from modelplane.compose_replica.source_copies import SourceCopies
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.pod_messages import REPLICA_PODS
from modelplane.composing.references import arrange
from modelplane.model.deployment import Role
from modelplane.model.names import LABEL_GANG, LABEL_WORKLOAD
from modelplane.observed.remote import Remote
from modelplane.step import Request

#: Composition resource names of the team's namespace, of its NetworkPolicy, and of the collection that observes pods.
NAMESPACE: Final = "namespace"
POLICY: Final = "network-policy"
PODS: Final = "pods"

#: Composed resources by composition resource name.
Objects = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StageInputs:
    """What the stages read. No stage changes it."""

    request: Request
    spec: ReplicaSpec
    #: Where the replica's objects are, and what they are called.
    instance: Instance
    #: What the workloads are built from.
    order: builder.Order
    copies: SourceCopies
    #: The observed Objects and the readiness of each, by composition resource name.
    remotes: Mapping[str, Remote]
    states: Mapping[str, Readiness]
    #: The workloads whose pods are observed: known once the objects of `STAGES` have been compared with the cluster.
    observed_workloads: Sequence[str] = ()


Stage = Callable[[StageInputs, Objects], Objects]


def engines(given: StageInputs, objects: Objects) -> Objects:
    """Add the workloads of the engines and their claim templates, as the present version builds them."""
    return {**objects, **workloads.compose(given.instance, given.spec)}


def edges(given: StageInputs, objects: Objects) -> Objects:
    """Add the way from the cluster's gateway to the pods: a Service, or a pool with an endpoint picker."""
    compose = edge.compose_pool if given.spec.picked else edge.compose_service
    return {**objects, **compose(given.instance, given.spec)}


def earlier_builds(given: StageInputs, objects: Objects) -> Objects:
    """Put back the workloads that an earlier version built, so that an upgrade restarts none."""
    return builder.build(objects, given.request.observed, given.order)


def rolling_updates(given: StageInputs, objects: Objects) -> Objects:
    """Say in each LeaderWorkerSet which gangs an edit may replace now."""
    edited = builder.ran(given.request.observed) != given.order.digest
    return {**objects, **rolling_update.compose(objects, given.remotes, edited=edited)}


def sources(given: StageInputs, objects: Objects) -> Objects:
    """Add the copies of the Secrets and ConfigMaps that the engines name."""
    return {**objects, **given.copies.objects(given.instance.site)}


def cache_usages(given: StageInputs, objects: Objects) -> Objects:
    """Add the Usages that protect the cache whose weights are mounted."""
    return {**objects, **weights.protect(given.request, given.spec, given.remotes)}


def namespace(given: StageInputs, objects: Objects) -> Objects:
    """Add the team's namespace."""
    return {**objects, NAMESPACE: given.instance.site.place_namespace(given.remotes.get(NAMESPACE))}


def network_policy(given: StageInputs, objects: Objects) -> Objects:
    """Add the namespace's NetworkPolicy, if it needs one."""
    remotes = given.remotes
    policy = given.instance.site.place_network_policy(remotes.get(NAMESPACE), remotes.get(POLICY))
    return {**objects, POLICY: policy} if policy else objects


def picker_policy(given: StageInputs, objects: Objects) -> Objects:
    """Add the NetworkPolicy by which the endpoint picker reaches the API server, if that of the namespace does not."""
    if not given.spec.picked:
        return objects
    return {**objects, **compose_way_to_api_server(given.instance, given.remotes.get(NAMESPACE))}


def earlier_edges(given: StageInputs, objects: Objects) -> Objects:
    """Put back the routes and backends that requests take until the next ones answer."""
    kept = handover.keep_answering(objects, given.request.observed, given.remotes, given.states)
    return {**objects, **kept}


def cluster_holds(given: StageInputs, objects: Objects) -> Objects:
    """Add Objects that keep the InferenceCluster where the provider has missed the first one."""
    cluster = given.request.one(require.cluster(given.spec.cluster))
    return {**objects, **compose_holds(given.request.observed, cluster, given.instance.site)}


def kept_references(given: StageInputs, objects: Objects) -> Objects:
    """Keep the references of existing Objects to the InferenceCluster."""
    observed = given.request.observed
    return {resource: with_kept_reference(body, observed.get(resource)) for resource, body in objects.items()}


def pods(given: StageInputs, objects: Objects) -> Objects:
    """Add the collection that observes the pods of workloads that do not serve; of gangs, only the observed copies."""
    if not given.observed_workloads:
        return objects
    expressions = [{"key": LABEL_WORKLOAD, "operator": "In", "values": list(given.observed_workloads)}]
    gangs = [engine for engine in given.spec.engines if Role.WORKER in engine.roles]
    beyond = {copy for engine in gangs for copy in range(engine.observed_copies, engine.copies)}
    if beyond:
        copies = [str(copy) for copy in sorted(beyond)]
        expressions.append({"key": LABEL_GANG, "operator": "NotIn", "values": copies})
    selector = {"matchExpressions": expressions}
    return {**objects, PODS: REPLICA_PODS.observe(given.instance.site, given.request.composite, selector)}


def claims_in_use(given: StageInputs, objects: Objects) -> Objects:
    """Put back the claim templates from which a workload may still make pods."""
    observed, remotes = given.request.observed, given.remotes
    templates = {name: held(observed[name].body) for name, each in remotes.items() if is_claim_template(each)}
    return arrange(objects, {}, used_templates(remotes), templates)


#: The stages of what the replica reports on: their objects are compared with those on the cluster (`findings`).
STAGES: Final[tuple[Stage, ...]] = (
    engines,
    edges,
    earlier_builds,
    rolling_updates,
    sources,
    cache_usages,
    namespace,
    network_policy,
    picker_policy,
    earlier_edges,
    cluster_holds,
    kept_references,
)
#: The stages after that, whose objects the replica does not wait for.
UNREPORTED_STAGES: Final[tuple[Stage, ...]] = (pods, claims_in_use)


def run(stages: Sequence[Stage], given: StageInputs, objects: Objects) -> Objects:
    """Return the objects after these stages."""
    for stage in stages:
        objects = stage(given, objects)
    return objects
