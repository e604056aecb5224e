"""What a ModelDeployment reports about its rollout: the replicas at its revision, and what the rollout waits for."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status
from modelplane.model.deployment import Deployment
from modelplane.model.names import replica_name
from modelplane.model.placement import Placement, Rolling, Schedule
from modelplane.model.replica import Replica
from modelplane.observed.replica import held_message, model_message
from modelplane.scheduling import word_no_room
from modelplane.step import Request


def name_of(deployment: Deployment, placement: Placement) -> str:
    """Return the name of a placement's ModelReplica, whether or not it exists already."""
    if placement.replica:
        return placement.replica.name
    return replica_name(deployment.namespace, deployment.name, placement.cluster, placement.index)


def carried_revision(deployment: Deployment, placement: Placement) -> str:
    """Return the revision that a placement's replica carries; "" for an outdated replica without one."""
    if placement.updated or placement.replica is None:
        return deployment.revision_of(deployment.find_profile(placement.profile))
    return placement.replica.revision


def replica_message(request: Request, replica: Replica) -> str:
    """Return what a replica waits for, from its own conditions; "" while they say nothing."""
    observed = request.observed.get(replica.resource)
    return model_message(observed) if observed else ""


def hold_message(request: Request, replica: Replica) -> str:
    """Return, from a replica's own conditions, why it is held; "" if it is not."""
    observed = request.observed.get(replica.resource)
    return held_message(observed) if observed else ""


def count_updated(schedule: Schedule) -> int:
    """Return how many replicas serve now with what the deployment asks for, without leaving ones."""
    return sum(1 for each in schedule.placements if each.updated and each.serving and not each.leaving)


def _progress(deployment: Deployment, schedule: Schedule) -> str:
    return f"{count_updated(schedule)} of {deployment.replicas} replicas at revision {deployment.revision or 'unknown'}"


def _waits_for(request: Request, deployment: Deployment, rolling: Rolling) -> dict[str, str]:
    """Return the replica that the rollout waits for, with its message."""
    placement = rolling.waiting_for
    if placement is None:
        return {}
    replica = placement.replica
    message = _words(request, placement, replica) if replica else ""
    return {"name": name_of(deployment, placement), "cluster": placement.cluster, "message": message or "it starts"}


def _words(request: Request, placement: Placement, replica: Replica) -> str:
    """Return what a replica waits for: the change of its pods, the reason why it is held, else its own message."""
    if placement.changes:
        return "its pods are changed"
    held = "" if placement.carries else placement.why
    return held or hold_message(request, replica) or replica_message(request, replica)


def rollout_status(request: Request, deployment: Deployment, schedule: Schedule) -> Mapping[str, Any] | None:
    """Return `status.rollout`, None when no rollout is under way."""
    if schedule.rolling is None:
        return None
    waited_for = _waits_for(request, deployment, schedule.rolling)
    counts = {"updated": count_updated(schedule), "replicas": deployment.replicas}
    return {**counts, **({"waitingFor": waited_for} if waited_for else {})}


#: What to do where spec.clusterSelector leaves no cluster at all.
_NO_CANDIDATES: Final = "no cluster carries the labels of spec.clusterSelector: label one, or correct the selector"


def placement_drifted(deployment: Deployment, schedule: Schedule) -> Condition:
    """Return PlacementDrifted, with each replica on a cluster that selectors and tolerations no longer allow."""
    kind = DeploymentCondition.PLACEMENT_DRIFTED
    if not schedule.drifted:
        return Condition(kind, Status.FALSE, Reason.AS_ASKED, Reason.AS_ASKED.meaning)
    drifted = [f"{drift.replica.name} on {drift.replica.cluster}: {drift.why}" for drift in schedule.drifted]
    if not deployment.rollout.follow_selectors:
        remedy = "they stay until spec.rollout.followSelectors is true"
    elif schedule.candidates == 0:
        remedy = f"they stay: {_NO_CANDIDATES}"
    else:
        remedy = "each moves once a cluster that is allowed has room for it: RolloutProgressing says what it waits for"
    return Condition(kind, Status.TRUE, Reason.OUTSIDE_SELECTORS, f"{'; '.join(sorted(drifted))}; {remedy}")


def _lacking(deployment: Deployment, schedule: Schedule, rolling: Rolling) -> str:
    """Return why no replica can be started beside the ones that serve, and what to do."""
    if schedule.candidates == 0:
        lacking = _NO_CANDIDATES
    elif rolling.too_large:
        lacking = "no response can carry another replica beside the ones that serve: make spec.engines smaller"
    elif deployment.model:
        asked = "no cluster can host a replica in place of an outdated one, on its profile or a better one"
        lacking = f"{asked}: see status.profiles for what each lacks"
    else:
        found = word_no_room(rolling, schedule, deployment)
        lacking = found or "no cluster has room for another replica beside the ones that serve: free one"
    if rolling.surge_only:
        return lacking
    if not deployment.rollout.budget(deployment.replicas).unavailable:
        return f"{lacking}, or set spec.rollout.maxUnavailable to 1 to change it in place, with a short outage"
    return f"{lacking}, or {_raise_budget(deployment, schedule)}"


def waiting_edit(deployment: Deployment, schedule: Schedule) -> str:
    """Return that an edit waits for room, why, and what to do; "" if none does."""
    rolling = schedule.rolling
    if rolling is None or not rolling.waits_for_room or deployment.resolution.problem:
        return ""
    return f"the edit waits: {_lacking(deployment, schedule, rolling)}"


def _raise_budget(deployment: Deployment, schedule: Schedule) -> str:
    """Return what to do where maxUnavailable lets no replica be changed, because others do not serve."""
    serving = sum(1 for each in schedule.placements if each.serving and not each.ending)
    down = max(0, deployment.replicas - serving)
    verb = "replica does not serve and uses" if down == 1 else "replicas do not serve and use"
    return f"raise spec.rollout.maxUnavailable, because {down} {verb} it up; or scale down"


def _news(schedule: Schedule) -> str:
    """Return that replicas start at the present revision although the rollout is paused, with their number; or ""."""
    new = sum(1 for each in schedule.placements if not each.leaving and not (each.replica and each.replica.has_served))
    return f"{new} new {'replica still starts' if new == 1 else 'replicas still start'} at this revision" if new else ""


def _resting(deployment: Deployment, schedule: Schedule) -> tuple[Reason, str]:
    """Return the reason and the message where no replica is on its way to the revision."""
    progress, problem = _progress(deployment, schedule), deployment.resolution.problem
    if problem:
        return deployment.resolution.reason, f"no edit reaches replicas until this is corrected: {problem}"
    behind = sum(1 for each in schedule.placements if not (each.updated or each.leaving))
    if deployment.model and deployment.model.pinned and behind:
        stay = "1 stays as it was" if behind == 1 else f"{behind} stay as they were"
        until = "until spec.modelRef.updates is Follow, or the deployment is edited"
        return Reason.PINNED, f"{progress}; {stay} placed {until}"
    # Nothing is left to change, even if nothing serves now.
    silent = sum(1 for each in schedule.placements if each.updated and not (each.serving or each.leaving))
    are = "is updated but not confirmed" if silent == 1 else "are updated but not confirmed"
    words = f"{silent} more {are} to serve" if silent else ""
    return Reason.ROLLOUT_COMPLETE, "; ".join(filter(None, (progress, words, _skipped(deployment, schedule))))


def _skipped(deployment: Deployment, schedule: Schedule) -> str:
    """Return that replicas keep the engines they were placed with because their profile cannot be used; or ""."""
    skipped = [each for each in schedule.placements if each.profile in deployment.resolution.skipped]
    found = sum(1 for each in skipped if not each.leaving)
    stay = "1 stays as it was" if found == 1 else f"{found} stay as they were"
    return f"{stay} placed, on a profile that ModelResolved says how to correct" if found else ""


def rollout_progressing(request: Request, deployment: Deployment, schedule: Schedule) -> Condition:
    """Return RolloutProgressing: True while a replica is on its way to the revision, with what it waits for."""
    kind, rolling, progress = DeploymentCondition.ROLLOUT_PROGRESSING, schedule.rolling, _progress(deployment, schedule)
    if deployment.resolution.problem or rolling is None:
        reason, words = _resting(deployment, schedule)
        return Condition(kind, Status.FALSE, reason, words)
    waited_for = _waits_for(request, deployment, rolling)
    waits = "waiting for {name} on {cluster}: {message}".format(**waited_for) if waited_for else ""
    if rolling.paused:
        words = f"{progress}; paused: set spec.rollout.paused to false to go on"
        return Condition(kind, Status.TRUE, Reason.PAUSED, "; ".join(filter(None, (words, _news(schedule), waits))))
    if rolling.no_room:
        words = f"{progress}; {_lacking(deployment, schedule, rolling)}"
        return Condition(kind, Status.TRUE, Reason.WAITING_FOR_ROOM, "; ".join(filter(None, (words, waits))))
    if not waits and schedule.unplaced:
        unplaced = f"{schedule.unplaced} not scheduled, see ReplicasScheduled"
        words = "; ".join((progress, unplaced, _raise_budget(deployment, schedule)))
        return Condition(kind, Status.TRUE, Reason.WAITING_FOR_ROOM, words)
    return Condition(kind, Status.TRUE, Reason.ROLLING_OUT, "; ".join(filter(None, (progress, waits))))
