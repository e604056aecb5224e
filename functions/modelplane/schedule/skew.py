"""Reduces a decision while the Configuration and this function have different versions.

Nothing new is placed, nothing is changed, and replicas end only by scaling down: all others are kept.
"""

from dataclasses import replace
from typing import Final

from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status
from modelplane.model.deployment import Deployment
from modelplane.model.placement import EndCause, Placement, Schedule, Stamp

#: Causes that still end a replica: a user's decision, and another replica with its index.
_ENDS: Final = (EndCause.SCALE_DOWN, EndCause.DUPLICATE)


def without_changes(schedule: Schedule) -> Schedule:
    """Return the decision with every observed replica unchanged, and without new ones."""
    kept = [replace(each, stamp=Stamp.HOLD) for each in schedule.placements if each.replica is not None]
    goes = tuple(end for end in schedule.ending if end.cause in _ENDS)
    stays = [end.replica for end in schedule.ending if end.cause not in _ENDS]
    kept += [Placement(each.cluster, each.index or 0, each.engines, each, Stamp.HOLD) for each in stays]
    counted = sum(not each.leaving for each in kept)
    placements = tuple(sorted(kept, key=lambda each: (each.cluster, each.index)))
    return replace(schedule, placements=placements, ending=goes, unplaced=max(0, schedule.replicas - counted))


def not_scheduled(found: tuple[Condition, ...], deployment: Deployment, schedule: Schedule) -> tuple[Condition, ...]:
    """Return the conditions of a deployment, of which ReplicasScheduled says why nothing new is placed."""
    if not schedule.unplaced:
        return found
    placed = deployment.replicas - schedule.unplaced
    message = (
        f"{placed} of {deployment.replicas} replicas scheduled: nothing new is placed, see condition VersionsMatch"
    )
    waits = Condition(DeploymentCondition.REPLICAS_SCHEDULED, Status.FALSE, Reason.INSUFFICIENT_CAPACITY, message)
    return tuple(waits if each.type == waits.type else each for each in found)
