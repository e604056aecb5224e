"""An engine of a Leader and its Workers: a LeaderWorkerSet of its copies, and the claim templates of their devices."""

from typing import Any

from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.member import claim_of, pod_of
from modelplane.compose_replica.serving_pod import serving_pod, with_side_channel
from modelplane.compose_replica.spec import Engine
from modelplane.compose_replica.standing import GANG_READY, STATEFUL_SET_READY, leaders_of, workers_of
from modelplane.kube.pod import ganged
from modelplane.kube.workload import leader_worker_set, stateful_set
from modelplane.model.deployment import Role


def compose(instance: Instance, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the Objects of the engine by composition resource name.

    The StatefulSets that LeaderWorkerSet makes (one of the leaders, one of each gang's workers) are observed: its own
    status says neither which generation it speaks of, nor that a worker is missing.
    """
    site, name = instance.site, instance.workload(engine.name)
    objects: dict[str, dict[str, Any]] = {}
    leader, worker = engine.member(Role.LEADER), engine.member(Role.WORKER)
    for member in (leader, worker):
        objects |= claim_of(instance, engine, member).objects
    gang = leader_worker_set(
        name,
        site.namespace,
        instance.labels,
        copies=engine.copies,
        workers=worker.nodes,
        leader=serving_pod(instance, engine, leader, ganged(leader.container)),
        worker=pod_of(instance, engine, worker, with_side_channel(engine, ganged(worker.container))),
    )
    objects[f"leaderworkerset-{engine.name}"] = site.place(gang, ready_when=GANG_READY, watch=True)
    sets = {leaders_of(engine.name): name}
    sets |= {workers_of(engine.name, copy): f"{name}-{copy}" for copy in range(engine.observed_copies)}
    for resource, made in sets.items():
        objects[resource] = site.observe(stateful_set(made, site.namespace), ready_when=STATEFUL_SET_READY)
    return objects
