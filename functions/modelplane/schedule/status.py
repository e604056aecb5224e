"""What a ModelDeployment's status says after a scheduling pass: placements, counts, reasons and conditions."""

from collections.abc import Iterable
from typing import Any

from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status
from modelplane.model.deployment import Deployment
from modelplane.model.names import LABEL_DEPLOYMENT
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, Placement, Schedule
from modelplane.schedule.rollout import (
    carried_revision,
    count_updated,
    name_of,
    placement_drifted,
    replica_message,
    rollout_progressing,
)
from modelplane.scheduling.explain import explain
from modelplane.step import Request

#: Most entries of `status.placements`: a move of 500 replicas holds both sides.
MAX_PLACEMENTS = 1000


def _placement(deployment: Deployment, placement: Placement) -> dict[str, Any]:
    return {
        "name": name_of(deployment, placement),
        "cluster": placement.cluster,
        "index": placement.index,
        "pools": {engine.name: engine.pool for engine in placement.engines},
        "ready": placement.replica is not None and placement.replica.ready,
        "leaving": placement.leaving,
        "revision": carried_revision(deployment, placement),
        "updated": placement.updated,
        "serving": placement.serving,
    }


def describe_status(deployment: Deployment, schedule: Schedule) -> dict[str, Any]:
    """Return the status fields; `replicas.total` is what an autoscaler takes for the current scale."""
    counted = [placement for placement in schedule.placements if not placement.leaving]
    ready = sum(1 for placement in counted if placement.replica and placement.replica.ready)
    updated = count_updated(schedule)
    return {
        "replicas": {
            "total": len(counted),
            "ready": ready,
            "summary": f"{ready}/{deployment.replicas}",
            "selector": f"{LABEL_DEPLOYMENT}={deployment.name}",
            "updated": updated,
            "updatedSummary": f"{updated}/{deployment.replicas}",
            "outdatedBuilder": sum(1 for each in counted if each.replica and each.replica.outdated_builder),
        },
        "revision": deployment.revision,
        "placements": [_placement(deployment, placement) for placement in schedule.placements[:MAX_PLACEMENTS]],
        "unplaced": schedule.unplaced,
        "reasons": [
            {"reason": found.reason, "count": found.count, "message": found.message}
            for found in explain(schedule, deployment).reasons
        ],
    }


def _scheduled(deployment: Deployment, schedule: Schedule) -> Condition:
    report = explain(schedule, deployment)
    status = Status.TRUE if report.scheduled else Status.FALSE
    return Condition(DeploymentCondition.REPLICAS_SCHEDULED, status, report.reason, report.message)


def _doubts(request: Request, placements: Iterable[Placement]) -> list[str]:
    """Return what Ready replicas say of themselves nevertheless: that their cluster does not answer, since when."""
    replicas = [placement.replica for placement in placements if placement.replica]
    words = {replica.name: replica_message(request, replica) for replica in replicas}
    return [f"{name}: {said}" for name, said in words.items() if said]


def _complaint(request: Request, placement: Placement) -> str:
    """Return one replica that is not Ready, with the reason its own condition gives."""
    replica = placement.replica
    if replica is None:
        return f"a new one on {placement.cluster}"
    why = replica_message(request, replica)
    return f"{replica.name} on {placement.cluster}: {why}" if why else f"{replica.name} on {placement.cluster}"


def _none_staying(schedule: Schedule) -> Condition:
    """Return ReplicasReady of a deployment no replica of which is as asked; some may serve until they are replaced."""
    kind = DeploymentCondition.REPLICAS_READY
    serving = sum(1 for placement in schedule.placements if placement.replica and placement.replica.ready)
    if serving:
        moving = "1 that has to move still serves" if serving == 1 else f"{serving} that have to move still serve"
        text = f"no replica is placed as asked; {moving} until replaced"
        return Condition(kind, Status.FALSE, Reason.DEGRADED, text)
    return Condition(kind, Status.FALSE, Reason.NO_REPLICAS_SCHEDULED, "no replica is placed yet")


def _ready(request: Request, deployment: Deployment, schedule: Schedule) -> Condition:
    """Return ReplicasReady, which compares with what is asked for, not with what was placed."""
    kind = DeploymentCondition.REPLICAS_READY
    counted = [placement for placement in schedule.placements if not placement.leaving]
    if deployment.replicas == 0:
        return Condition(kind, Status.TRUE, Reason.SCALED_TO_ZERO, "spec.replicas is 0")
    if not counted:
        return _none_staying(schedule)
    waiting = [placement for placement in counted if not (placement.replica and placement.replica.ready)]
    ready = len(counted) - len(waiting)
    message = f"{ready} of {deployment.replicas} replicas ready"
    if ready >= deployment.replicas:
        return Condition(kind, Status.TRUE, Reason.ALL_REPLICAS_READY, "; ".join([message, *_doubts(request, counted)]))
    details = [_complaint(request, placement) for placement in waiting]
    if schedule.unplaced:
        details.append(f"{schedule.unplaced} not scheduled")
    fell_back = any(placement.replica and placement.replica.serves for placement in waiting)
    degraded = fell_back or (ready > 0 and schedule.unplaced > 0)
    reason = Reason.DEGRADED if degraded else Reason.MODEL_STARTING
    return Condition(kind, Status.FALSE, reason, f"{message}; not ready: {'; '.join(details)}")


def _cache(deployment: Deployment, schedule: Schedule) -> Condition:
    kind, cache, name = DeploymentCondition.MODEL_CACHE_RESOLVED, schedule.cache, deployment.cache
    if cache is CacheState.NOT_REQUIRED:
        return Condition(kind, Status.TRUE, Reason.NOT_REQUIRED, "the deployment names no ModelCache")
    if cache is Gap.ABSENT:
        remedy = (
            f"spec.modelCacheRef.name: there is no ModelCache {name} in namespace {deployment.namespace}; create it"
        )
        return Condition(kind, Status.FALSE, Reason.MODEL_CACHE_NOT_FOUND, remedy)
    if isinstance(cache, Malformed):
        return Condition(kind, Status.FALSE, Reason.MODEL_CACHE_UNRESOLVED, str(cache))
    if cache in (CacheState.UNRESOLVED, Gap.NOT_FETCHED):
        waits = f"ModelCache {name} has not said yet which clusters it matches"
        return Condition(kind, Status.FALSE, Reason.MODEL_CACHE_UNRESOLVED, waits)
    return Condition(kind, Status.TRUE, Reason.MODEL_CACHE_RESOLVED, f"ModelCache {name}")


def conditions(request: Request, deployment: Deployment, schedule: Schedule) -> tuple[Condition, ...]:
    """Return the deployment's conditions, all of its kind."""
    return (
        _scheduled(deployment, schedule),
        _ready(request, deployment, schedule),
        rollout_progressing(request, deployment, schedule),
        placement_drifted(schedule),
        _cache(deployment, schedule),
    )
