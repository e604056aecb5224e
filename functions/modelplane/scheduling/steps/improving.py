"""Which replicas could run on a better profile: computed when an edit of the ClusterModel may have made one possible.

No replica is moved for it: a replica keeps its profile until it is placed anew.
"""

from collections import Counter
from dataclasses import replace

from modelplane.model.placement import Needs
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.fill import Limit, rank_all
from modelplane.scheduling.steps.pass_input import PassInput


def reconsider(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Count, for each better profile, the replicas that it has room for beside the present ones; note why no more.

    This is done only where candidates are at hand, after an edit of the ClusterModel or for a placement; what they
    publish of their replicas is exact enough. Replicas on a profile that is invalid stay on it and are not counted,
    because its rank is not known.
    """
    counted = [own for own in given.roster.counted if own.replica.profile not in given.deployment.resolution.skipped]
    worst = max((own.rank for own in counted), default=0)
    waits = given.missing(so_far.placed) or given.holds_new or given.needs_to_place(so_far.placed, surging=True)
    if not worst or waits:
        return so_far
    if given.view.shortlisted is not None and not given.view.final:
        return Needs(candidates=True)
    filling, ranks = rank_all(given, Limit(worst - 1))
    if given.budget.postponed:
        return so_far
    room: Counter[int] = Counter()
    for each in ranks:
        room[each.profile] -= each.no_room
    improvable: dict[str, int] = {}
    for at, profile in enumerate(filling.profiles):
        behind = sum(own.rank > at for own in counted) - sum(improvable.values())
        if could := min(room[at], behind):
            improvable[profile.name] = could
    refused = {**so_far.profile_refusals, **filling.refusals()}
    return replace(so_far, improvable=improvable, profile_refusals=refused)
