"""Which replicas could run on a better profile: computed when an edit of the ClusterModel may have made one possible.

No replica is moved for it: a replica keeps its profile until it is placed anew.
"""

from collections import Counter

from modelplane.model.placement import Needs
from modelplane.scheduling.steps.fill import Limit, rank_all
from modelplane.scheduling.steps.work import Work


def reconsider(work: Work) -> Needs | None:
    """Count, for each better profile, the replicas that it has room for beside the present ones; note why no more.

    This is done only where candidates are at hand, after an edit of the ClusterModel or for a placement; what they
    publish of their replicas is exact enough. Replicas on a profile that is invalid stay on it and are not counted,
    because its rank is not known.
    """
    counted = [own for own in work.roster.counted if own.replica.profile not in work.deployment.resolution.skipped]
    worst = max((own.rank for own in counted), default=0)
    if not worst or work.missing or work.holds_new or work.needs_to_place(surging=True):
        return None
    if work.view.shortlisted is not None and not work.view.final:
        return Needs(candidates=True)
    filling, ranks = rank_all(work, Limit(worst - 1))
    if work.budget.postponed:
        return None
    room: Counter[int] = Counter()
    for each in ranks:
        room[each.profile] -= each.no_room
    improved = 0
    for at, profile in enumerate(filling.profiles):
        behind = sum(own.rank > at for own in counted) - improved
        if could := min(room[at], behind):
            work.improvable[profile.name] = could
            improved += could
    work.profile_refusals.update(filling.refusals())
    return None
