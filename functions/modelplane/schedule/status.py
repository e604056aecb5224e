"""What a ModelDeployment's status says after a scheduling pass: placements, counts, reasons and conditions."""

from collections.abc import Iterable, Mapping
from typing import Any

from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status
from modelplane.model.deployment import Deployment
from modelplane.model.names import LABEL_DEPLOYMENT
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, FleetView, Placement, Schedule
from modelplane.observed.deployment import listed_choices
from modelplane.schedule.catalogue import model_resolved
from modelplane.schedule.readiness import count_ready, has_ready_replica, replicas_ready
from modelplane.schedule.rollout import (
    carried_revision,
    count_updated,
    name_of,
    placement_drifted,
    rollout_progressing,
)
from modelplane.scheduling.words import Report, word_choice
from modelplane.step import Request

#: Most entries of `status.placements`: a move of 500 replicas lists the old and the new ones.
MAX_PLACEMENTS = 1000


def _placement(deployment: Deployment, placement: Placement, choices: Mapping[str, str]) -> dict[str, Any]:
    """Return the entry of a placement; that of a replica which exists keeps why it was placed there."""
    name = name_of(deployment, placement)
    why = choices.get(name, "") if placement.replica else word_choice(placement)
    return {
        "name": name,
        "cluster": placement.cluster,
        "index": placement.index,
        "pools": {engine.name: engine.pool for engine in placement.engines},
        "ready": has_ready_replica(placement),
        "leaving": placement.leaving,
        "revision": carried_revision(deployment, placement),
        "updated": placement.updated,
        "serving": placement.serving,
        **({"profile": placement.profile} if placement.profile else {}),
        **({"why": why} if why else {}),
    }


def describe_status(
    request: Request, deployment: Deployment, view: FleetView, schedule: Schedule, report: Report
) -> dict[str, Any]:
    """Return the status fields; an autoscaler reads `replicas.total` as the current scale."""
    counted = [placement for placement in schedule.placements if not placement.leaving]
    ready = count_ready(view, schedule)
    updated = count_updated(schedule)
    choices = listed_choices(request.composite)
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
        "placements": [_placement(deployment, each, choices) for each in schedule.placements[:MAX_PLACEMENTS]],
        "unplaced": schedule.unplaced,
        "reasons": [
            {
                "reason": found.reason,
                "count": found.count,
                "message": found.message,
                **({"profile": found.profile} if found.profile else {}),
                **({"remedy": found.remedy} if found.remedy else {}),
            }
            for found in report.reasons
        ],
    }


def _scheduled(report: Report) -> Condition:
    status = Status.TRUE if report.scheduled else Status.FALSE
    return Condition(DeploymentCondition.REPLICAS_SCHEDULED, status, report.reason, report.message)


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
        waits = f"ModelCache {deployment.namespace}/{name} has not published its clusters yet"
        return Condition(kind, Status.FALSE, Reason.MODEL_CACHE_UNRESOLVED, waits)
    return Condition(kind, Status.TRUE, Reason.MODEL_CACHE_RESOLVED, f"ModelCache {name}")


def conditions(
    request: Request, deployment: Deployment, view: FleetView, schedule: Schedule, report: Report
) -> tuple[Condition, ...]:
    """Return the deployment's conditions, all of its kind."""
    return (
        _scheduled(report),
        replicas_ready(request, deployment, view, schedule),
        rollout_progressing(request, deployment, schedule),
        placement_drifted(deployment, schedule),
        _cache(deployment, schedule),
        model_resolved(deployment),
    )


def is_ready(found: Iterable[Condition]) -> bool:
    """Tell whether a deployment with these conditions is Ready: as many replicas serve as it asks for, as asked."""
    return any(each.type == DeploymentCondition.REPLICAS_READY and each.status is Status.TRUE for each in found)
