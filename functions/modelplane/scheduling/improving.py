"""Which replicas could run on a better profile than theirs: asked when an edit of the ClusterModel may have made one.

Nothing moves for it. A replica keeps its profile until it is placed anew.
"""

from collections import Counter

from modelplane.model.placement import Needs
from modelplane.scheduling.fill import Limit, rank_all
from modelplane.scheduling.work import Work


def reconsider(work: Work) -> Needs | None:
    """Count for each better profile the replicas that it has room for, beside what is there; note why no more.

    Only where candidates are at hand: an edit of the ClusterModel asks for them once, and so does all that is placed.
    What they publish of their replicas does for it. Replicas on a profile that cannot be served as it is written stay
    on it, and are not counted: whether another profile is better is not known of them.
    """
    counted = [own for own in work.roster.counted if own.replica.profile not in work.deployment.resolution.skipped]
    worst = max((own.rank for own in counted), default=0)
    if not worst or work.missing or work.holds_new or work.needs_to_place(surging=True):
        return None
    if work.view.shortlisted is not None and not work.view.final:
        return Needs(candidates=True)
    filling, ranks = rank_all(work, Limit(worst - 1))
    room: Counter[int] = Counter()
    for _, rank, _, _, negative_room, _, _ in ranks:
        room[rank] -= negative_room
    improved = 0
    for at, profile in enumerate(filling.profiles):
        behind = sum(own.rank > at for own in counted) - improved
        if could := min(room[at], behind):
            work.improvable[profile.name] = could
            improved += could
    work.profile_refusals.update(filling.refusals())
    return None
