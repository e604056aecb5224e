"""Replaces replicas: starts one beside an outdated one, and ends those that leave once enough others serve."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from modelplane.model.fleet import Cluster
from modelplane.model.placement import EndCause, Needs
from modelplane.scheduling.capability import capability
from modelplane.scheduling.fill import fill
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.in_place import change
from modelplane.scheduling.roster import OwnReplica, seniority
from modelplane.scheduling.work import Work

_WAY_OUT = ": scale down to end it before"
_WAYS_OUT = ": scale down, or taint the cluster NoExecute, to end it before"


def roll(work: Work) -> Needs | None:
    """Take the next step of a rollout."""
    work.rollout_step.take(partial(_surge, work), partial(change, work))
    return None


def _surge(work: Work, own: OwnReplica) -> bool:
    """Place a replica in place of an outdated one, which then leaves; tell whether it found a place."""
    if work.missing or work.holds_new or work.needs_to_place(surging=True):
        return False
    if len(work.view.own) + len(work.placed) >= work.deployment.carried:
        work.rollout_step.too_large = True
        return False
    most = _most_capable(work, own)
    if _is_tried(work, most):
        return False
    before, why = len(work.placed), own.why
    own.leave(EndCause.ROLLED_OUT, "")
    fill(work, {}, most)
    found = len(work.placed) > before
    if not found:
        own.leaving, own.why = None, why
        work.surges_failed.append(most)
    return found


def _most_capable(work: Work, own: OwnReplica) -> Fraction | None:
    """Return the most capable devices onto which a replica may surge: those that it would take on its own pools.

    None for any: where these are not known, or its own pools cannot host what is asked for.
    """
    cluster, found = work.published(own), work.in_place[own]
    if cluster is None or found.engines is None or own.surge_only:
        return None
    return capability(found.engines, layout(cluster))


def _is_tried(work: Work, most: Fraction | None) -> bool:
    """Tell whether a surge that might have taken as capable devices has found no place: then this one does not."""
    return any(tried is None or (most is not None and most <= tried) for tried in work.surges_failed)


def needed_until_others_serve(leaving: Sequence[OwnReplica], needed: int) -> list[OwnReplica]:
    """Return the leaving replicas that do not end yet: `needed` of them, the oldest, as those go last."""
    return sorted(leaving, key=lambda own: seniority(own.replica))[:needed]


def dismiss(work: Work) -> Needs | None:
    """End the leaving replicas that are no longer needed; where no candidate is known, all are."""
    for own in work.rollout_step.settled_leaving():
        own.ending = EndCause.ROLLED_OUT
    counted, leaving = work.roster.counted, [own for own in work.roster.members if own.moving]
    # One that is only listed may be gone, because lists lag: no other replica ends because it serves.
    serving = sum(own.replica.serves and not own.listed_only for own in counted)
    short = max(0, work.deployment.replicas - serving)
    oldest = needed_until_others_serve([own for own in leaving if own.replica.serves], short)
    needed = set(oldest)
    if work.missing and work.checked:
        pending = len(counted) - serving + len(work.placed)
        needed -= set([own for own in oldest if own.leaving is EndCause.EVICTED][pending:])
    elif work.missing:
        needed |= {own for own in leaving if not own.replica.serves}
    for own in leaving:
        if own not in needed:
            own.ending = own.leaving
        elif work.missing:
            there = isinstance(work.cluster(own.replica.cluster), Cluster)
            own.why += _WAYS_OUT if there and own.leaving is not EndCause.EVICTED else _WAY_OUT
    return None
