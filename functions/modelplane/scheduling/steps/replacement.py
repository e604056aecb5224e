"""Carries out a step of a rollout: replaces an outdated replica by a new one, or changes it in place."""

from fractions import Fraction
from functools import partial

from modelplane.model.placement import EndCause, Needs
from modelplane.scheduling.pools import layout
from modelplane.scheduling.steps.fill import Limit, fill
from modelplane.scheduling.steps.in_place import change
from modelplane.scheduling.steps.rank import capability
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.shortlist import find_doubtful, shortlist
from modelplane.scheduling.steps.work import Work


def roll(work: Work) -> Needs | None:
    """Take the next step of a rollout; none while a search is postponed."""
    if work.budget.postponed:
        return None
    work.rollout_step.take(partial(_surge, work), partial(change, work))
    if work.unread or work.doubted:
        return shortlist(work, {})
    return Needs(candidates=True) if work.widened else None


def _surge(work: Work, own: OwnReplica) -> bool:
    """Place a replica that replaces an outdated one, which then leaves; False if there is no place for it.

    True also while that is not known, because a search is postponed.
    """
    return work.budget.postponed or _takes_over(work, own)


def _takes_over(work: Work, own: OwnReplica) -> bool:
    if work.missing or work.holds_new or work.needs_to_place(surging=True):
        return False
    if len(work.view.own) + len(work.placed) >= work.deployment.carried:
        work.rollout_step.too_large = True
        return False
    limit = _limit(work, own)
    if _is_tried(work, own, limit.capability):
        return False
    before, why = len(work.placed), own.why
    own.leave(EndCause.ROLLED_OUT, "")
    refused = fill(work, limit)
    found = len(work.placed) > before
    if not found:
        own.leaving, own.why = None, why
        if work.budget.postponed:
            return True
        work.surges_failed.append((own.rank, limit.capability))
        work.surge_refusals = work.surge_refusals or refused
        work.widened |= work.view.shortlisted is not None and not work.view.final
        work.doubted += find_doubtful(work, refused)
        if work.deployment.model:
            work.profile_refusals.update(refused)
    return found


def _limit(work: Work, own: OwnReplica) -> Limit:
    """Return the limit of a replica's surge: its own profile or a better one, and no more capable devices."""
    return Limit(own.rank if own.profile else None, _most_capable(work, own))


def _most_capable(work: Work, own: OwnReplica) -> Fraction | None:
    """Return the capability of the devices onto which a replica may surge: that of its own pools.

    None for any: it is not known, or its own pools cannot host the deployment's engines.
    """
    cluster, found = work.published(own), work.in_place[own]
    if cluster is None or found.engines is None or own.surge_only:
        return None
    return capability(found.engines, layout(cluster))


def _is_tried(work: Work, own: OwnReplica, most: Fraction | None) -> bool:
    """Tell whether a surge with the same or a wider limit has found no place in this pass: then this one cannot."""
    return any(
        own.rank <= rank and (tried is None or (most is not None and most <= tried))
        for rank, tried in work.surges_failed
    )
