"""The result of a pass over a replica: its objects, what it reports of them, and what it has to read."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica import builder, report
from modelplane.compose_replica.findings import ReplicaFindings
from modelplane.compose_replica.obstacle import Obstacle
from modelplane.compose_replica.readiness import Readiness, readiness_of
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.compose_replica.stages import PODS, Objects
from modelplane.composing import requirements as require
from modelplane.composing.hold import hold_all
from modelplane.composing.orphan import is_orphaning, only_observes, policy_of, with_policy
from modelplane.composing.pod_messages import REPLICA_PODS
from modelplane.model.conditions import Status
from modelplane.model.observation import Gap
from modelplane.observed.cluster import made_uid
from modelplane.observed.fields import mapping
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import AWAITING, SETTLED, Desired, Object, Request, Requirement, Result


def read_remotes(request: Request) -> dict[str, Remote]:
    """Return the observed Objects by composition resource name."""
    return {resource: read_remote(found) for resource, found in request.observed.items()}


def read_states(remotes: Mapping[str, Remote]) -> dict[str, Readiness]:
    """Return the readiness of each observed Object."""
    return {resource: readiness_of(resource, remotes) for resource in remotes}


def _manifests(objects: Objects) -> dict[str, Mapping[str, Any]]:
    """Return the manifest that each Object applies to the cluster, without Objects that only observe."""
    specs = {resource: mapping(body["spec"]) for resource, body in objects.items() if body["kind"] == "Object"}
    return {
        resource: mapping(mapping(spec.get("forProvider")).get("manifest"))
        for resource, spec in specs.items()
        if not only_observes(objects[resource])
    }


def findings_of(
    request: Request,
    spec: ReplicaSpec | None,
    objects: Objects,
    obstacle: Obstacle | None = None,
    states: Mapping[str, Readiness] | None = None,
) -> ReplicaFindings:
    """Return what there is to find of a replica whose desired objects are these; `states` are read if not given."""
    remotes, cluster = read_remotes(request), request.one(require.cluster(spec.cluster)) if spec else Gap.NOT_FETCHED
    return ReplicaFindings(
        request.composite,
        spec,
        _manifests(objects),
        remotes,
        read_states(remotes) if states is None else states,
        obstacle,
        builder=builder.oldest(request.observed),
        ran=builder.ran(request.observed),
        pods=REPLICA_PODS.messages(request),
        crashed_pods=REPLICA_PODS.crashed(request),
        orphaning=is_orphaning(cluster),
        policy=policy_of(cluster),
        made_uid=made_uid(cluster) if isinstance(cluster, Object) else "",
    )


def _with_policies(request: Request, found: ReplicaFindings, objects: Objects) -> dict[str, Mapping[str, Any]]:
    """Return the Objects with the policy of their cluster, and what is no longer desired until it has that too.

    One that only observed for a while, and was deleted so, would leave on the cluster what it represents.
    """
    cluster = found.spec.cluster if found.spec else ""
    left = {name: body for name, body in hold_all(request).items() if name not in objects}
    first = {name: with_policy(body, cluster, found.policy) for name, body in left.items()}
    return {name: with_policy(body, cluster, found.policy) for name, body in objects.items()} | {
        name: body for name, body in first.items() if body != left[name]
    }


def result_of(
    request: Request, found: ReplicaFindings, objects: Objects, requirements: tuple[Requirement, ...] = ()
) -> Result:
    """Return the result with these objects, and the conditions and the status by what was found."""

    def is_ready(resource: str) -> bool:
        return resource in found.states and found.states[resource].complete

    if PODS in objects:
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


def hold(
    request: Request, spec: ReplicaSpec | None, obstacle: Obstacle, requirements: tuple[Requirement, ...] = ()
) -> Result:
    """Return a result that holds all observed resources and reports the obstacle."""
    objects = hold_all(request)
    return result_of(request, findings_of(request, spec, objects, obstacle), objects, requirements)


def drop(request: Request, spec: ReplicaSpec, obstacle: Obstacle, requirements: tuple[Requirement, ...]) -> Result:
    """Return a result that composes nothing, for a replica that never served."""
    return result_of(request, findings_of(request, spec, {}, obstacle), {}, requirements)
