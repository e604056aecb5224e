"""The workloads of a replica's engines on its cluster.

An engine with one Standalone member is a Deployment of its copies, one with a Leader and a Worker a LeaderWorkerSet.
The composition resource name contains the kind, so that a change of the kind is another resource.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from modelplane.compose_replica.engine_pods import claims_of, serving_pod, worker_pod
from modelplane.compose_replica.instance import Instance, workload_resource
from modelplane.compose_replica.readiness import (
    DEPLOYMENT_READY,
    GANG_READY,
    STATEFUL_SET_READY,
    leaders_resource,
    workers_resource,
)
from modelplane.compose_replica.spec import Engine, ReplicaSpec
from modelplane.compose_replica.validation import GANG, STANDALONE
from modelplane.kube.pod import ganged
from modelplane.kube.workload import deployment, leader_worker_set, stateful_set
from modelplane.model.deployment import Role

Objects = dict[str, dict[str, Any]]


def _standalone(instance: Instance, engine: Engine) -> Objects:
    member, name, site = engine.member(Role.STANDALONE), instance.workload(engine), instance.site
    pod = serving_pod(instance, engine, member, member.container)
    workload = deployment(name, site.namespace, instance.labels, copies=engine.copies, template=pod)
    return {workload_resource(engine): site.place_workload(workload, ready_when=DEPLOYMENT_READY)}


def _gang(instance: Instance, engine: Engine) -> Objects:
    """Return the LeaderWorkerSet, and the Objects that observe its StatefulSets.

    There is one StatefulSet of the leaders, and one of each gang's workers. The LeaderWorkerSet's own status reports
    neither the generation that it counts, nor a missing worker.
    """
    site, name = instance.site, instance.workload(engine)
    leader, worker = engine.member(Role.LEADER), engine.member(Role.WORKER)
    gang = leader_worker_set(
        name,
        site.namespace,
        instance.labels,
        copies=engine.copies,
        workers=worker.nodes,
        leader=serving_pod(instance, engine, leader, ganged(leader.container)),
        worker=worker_pod(instance, engine, worker, ganged(worker.container)),
    )
    sets = {leaders_resource(engine.name): name}
    sets |= {workers_resource(engine.name, copy): f"{name}-{copy}" for copy in range(engine.observed_copies)}
    observed = {
        resource: site.observe(stateful_set(made, site.namespace), ready_when=STATEFUL_SET_READY)
        for resource, made in sets.items()
    }
    return {workload_resource(engine): site.place_workload(gang, ready_when=GANG_READY), **observed}


_ENGINES: Final[Mapping[frozenset[Role], Callable[[Instance, Engine], Objects]]] = {
    STANDALONE: _standalone,
    GANG: _gang,
}


def compose(instance: Instance, spec: ReplicaSpec) -> Objects:
    """Return the Objects of the engines of a valid replica by composition resource name."""
    objects: Objects = {}
    for engine in spec.engines:
        objects |= claims_of(instance, engine) | _ENGINES[engine.roles](instance, engine)
    return objects
