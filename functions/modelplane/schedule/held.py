"""Which replicas keep running although they are not as asked, why, and what to do."""

from collections.abc import Iterator

from modelplane.model.placement import Placement, Schedule, Stamp
from modelplane.model.replica import Replica
from modelplane.schedule.rollout import hold_message
from modelplane.scheduling import word_edit
from modelplane.scheduling.words import count
from modelplane.step import Request


def _edit_held(placement: Placement) -> str:
    """Return why `schedule` holds a replica whose spec is not what the deployment asks for, "" if it does not."""
    if placement.stamp is not Stamp.HOLD or not placement.why:
        return ""
    return "" if placement.carries else f"the edit is held, {placement.why}"


def _causes(request: Request, schedule: Schedule) -> Iterator[tuple[Replica, str]]:
    """Yield each replica that is not as asked, except leaving ones, with why and what to do."""
    without_room = {edit.replica.name for edit in schedule.held_edits}
    for placement in schedule.placements:
        replica = placement.replica
        if replica and not placement.leaving and replica.name not in without_room:
            yield replica, _edit_held(placement)
            yield replica, hold_message(request, replica)
    for edit in schedule.held_edits:
        why = f"the edit is held, because it does not fit ({word_edit(edit, schedule)}): free nodes, or undo the edit"
        yield edit.replica, why
    for small in schedule.too_small:
        short = f"pool {small.pool} is too small: needs {count(small.needs, 'node')}, other replicas leave {small.free}"
        yield small.replica, f"{short}: give the pool its nodes back, or scale down"


def held_replicas(request: Request, schedule: Schedule) -> list[str]:
    """Return a text for each cause why replicas are not as asked: replicas with their clusters, why, what to do."""
    named: dict[str, list[str]] = {}
    for replica, why in _causes(request, schedule):
        if why:
            named.setdefault(why, []).append(f"{replica.name} on {replica.cluster}")
    return [f"{', '.join(sorted(names))}: {why.rstrip('.')}" for why, names in sorted(named.items())]
