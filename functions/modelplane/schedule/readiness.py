"""The condition ReplicasReady of a ModelDeployment: whether as many replicas serve as it asks for, and why not."""

from collections.abc import Iterable, Sequence

from modelplane.model.conditions import Condition, DeploymentCondition, Reason, Status
from modelplane.model.deployment import Deployment
from modelplane.model.placement import FleetView, Placement, Schedule
from modelplane.model.serving import serves_through, was_ready
from modelplane.schedule.held import held_replicas
from modelplane.schedule.reachability import MAX_CLUSTERS, find_lost, is_reachable
from modelplane.schedule.rollout import hold_message, replica_message, waiting_edit
from modelplane.step import Request

_KIND = DeploymentCondition.REPLICAS_READY
#: Most replicas of one cause that are named.
_NAMED = 3


def has_ready_replica(placement: Placement) -> bool:
    """Tell whether the replica of a placement was last reported Ready, and its pods have not been changed since.

    A change of one copy after the other does not count: the others go on to serve.
    """
    replica = placement.replica
    if replica is None or (placement.changes and not placement.by_copy):
        return False
    return was_ready(replica) or (replica.ready and serves_through(replica.served_interface, replica.interface))


def _count_leaving(view: FleetView, schedule: Schedule) -> int:
    """Return how many leaving replicas serve: they take requests until others serve in their place."""
    leaving = (each for each in schedule.placements if each.leaving and not each.ending)
    return sum(has_ready_replica(each) and is_reachable(view, each.cluster) for each in leaving)


def count_ready(view: FleetView, schedule: Schedule) -> int:
    """Return how many of the replicas that are asked for serve by their last report, leaving ones included."""
    counted = sum(has_ready_replica(each) for each in schedule.placements if not each.leaving)
    return min(schedule.replicas, counted + _count_leaving(view, schedule))


def _doubts(request: Request, placements: Iterable[Placement]) -> list[str]:
    """Return the problems that Ready replicas report, such as Objects that are not in sync: once for each cluster.

    Held replicas are left out: their messages are reported with the held replicas.
    """
    messages: dict[str, list[tuple[str, str]]] = {}
    for placement in placements:
        replica = placement.replica
        if replica and (words := replica_message(request, replica)) and not hold_message(request, replica):
            messages.setdefault(placement.cluster, []).append((replica.name, words))
    return [
        f"{name}: {words}" if not others else f"{name} and {len(others)} more on {cluster}: {words}"
        for cluster, ((name, words), *others) in messages.items()
    ]


def _complaint(request: Request, placement: Placement) -> tuple[str, str]:
    """Return a replica that is not Ready, with the message of its own condition."""
    replica = placement.replica
    if replica is None:
        return "", f"a new one on {placement.cluster}"
    why = "its pods are changed" if placement.changes else replica_message(request, replica)
    return why, f"{replica.name} on {placement.cluster}"


def _together(why: str, replicas: Sequence[str]) -> str:
    """Return the replicas that one cause keeps from being Ready, with their number and the cause."""
    more = len(replicas) - _NAMED
    names = f"{', '.join(replicas[:_NAMED])} and {more} more" if more > 0 else ", ".join(replicas)
    counted = names if len(replicas) == 1 else f"{len(replicas)} replicas ({names})"
    return f"{counted}: {why}" if why else counted


def _none_counted(view: FleetView, schedule: Schedule, problem: str) -> Condition:
    """Return the condition of a deployment without a replica that counts; some may serve until they are replaced."""
    if serving := _count_leaving(view, schedule):
        moving = "1 that has to move still serves" if serving == 1 else f"{serving} that have to move still serve"
        text = f"no replica is placed as asked; {moving} until replaced"
        return Condition(_KIND, Status.FALSE, Reason.DEGRADED, text)
    text = "; ".join(filter(None, ("no replica is placed yet", problem)))
    return Condition(_KIND, Status.FALSE, Reason.NO_REPLICAS_SCHEDULED, text)


def _not_ready(request: Request, schedule: Schedule, waiting: Iterable[Placement]) -> list[str]:
    """Return the replicas that are not Ready, with their own messages: once for each cause."""
    causes: dict[str, list[str]] = {}
    for why, name in (_complaint(request, placement) for placement in waiting):
        causes.setdefault(why, []).append(name)
    details = [_together(why, names) for why, names in causes.items()]
    return details + ([f"{schedule.unplaced} not scheduled"] if schedule.unplaced else [])


def _count_words(view: FleetView, schedule: Schedule) -> str:
    """Return how many replicas are ready, and how many of them only until others serve."""
    ready = count_ready(view, schedule)
    staying = sum(has_ready_replica(each) for each in schedule.placements if not each.leaving)
    until = f" ({ready - staying} until others serve)" if ready > staying else ""
    return f"{ready} of {schedule.replicas} replicas ready{until}"


def replicas_ready(request: Request, deployment: Deployment, view: FleetView, schedule: Schedule) -> Condition:
    """Return ReplicasReady, which compares with the number asked for, not with the number placed.

    It is Unknown while replicas are on clusters that cannot be reached: their last state is reported separately. It is
    not True while an edit is held or waits for room, even if all replicas are Ready: some of them are not as asked.
    """
    counted = [placement for placement in schedule.placements if not placement.leaving]
    if deployment.replicas == 0:
        return Condition(_KIND, Status.TRUE, Reason.SCALED_TO_ZERO, "spec.replicas is 0")
    if not counted:
        return _none_counted(view, schedule, deployment.resolution.problem)
    lost = list(find_lost(request, view, schedule))
    known = [each for each in counted if each.cluster not in {cluster.name for cluster in lost}]
    waiting = [placement for placement in known if not has_ready_replica(placement)]
    ready, message = count_ready(view, schedule), _count_words(view, schedule)
    details = _not_ready(request, schedule, waiting)
    not_ready = [f"not ready: {'; '.join(details)}"] if details else []
    held = held_replicas(request, schedule) or [*filter(None, [waiting_edit(deployment, schedule)])]
    problem = [deployment.resolution.problem] if deployment.resolution.problem else []
    rest = [*not_ready, *([f"not as asked: {'; '.join(held)}"] if held else []), *problem]
    if lost:
        more = [f"{len(lost) - MAX_CLUSTERS} more clusters"] if len(lost) > MAX_CLUSTERS else []
        unknown = [*map(str, lost[:MAX_CLUSTERS]), *more]
        message = "; ".join([message, *unknown, *rest])
        return Condition(_KIND, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, message)
    if ready >= deployment.replicas and not schedule.unplaced:
        message = "; ".join([message, *rest, *_doubts(request, counted)])
        status, reason = (Status.FALSE, Reason.EDIT_HELD) if held else (Status.TRUE, Reason.ALL_REPLICAS_READY)
        return Condition(_KIND, status, reason, message)
    fell_back = any(placement.replica and placement.replica.has_served for placement in waiting)
    degraded = fell_back or (ready > 0 and schedule.unplaced > 0)
    reason = Reason.DEGRADED if degraded else Reason.MODEL_STARTING
    return Condition(_KIND, Status.FALSE, reason, "; ".join([message, *rest]))
