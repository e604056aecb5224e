"""Of which clusters a pass reads the replicas before it places anything: what is decided on is exact.

Candidates are ranked by what they publish, which is as old as their last pass. What that chooses is read, with a few
clusters that rank next, so that one that turns out to be full does not take another round. What has no room by what is
published is refused for that, but for the clusters that a refusal names, and those that keep an evicted replica alive.
"""

import heapq
from collections.abc import Iterable, Mapping
from typing import Final

from modelplane.model.placement import EndCause, Needs
from modelplane.model.refusal import NoRoom, Refusal
from modelplane.scheduling.guess import guess
from modelplane.scheduling.holders import nearest_pools
from modelplane.scheduling.work import Work

#: Clusters that are read beside those that were chosen, and how many more for each that was read already.
SPARES: Final = 8
_MORE_SPARES: Final = 2
#: Replicas that are read in one round, or those of one cluster where it has more.
MOST_READ: Final = 3_000
#: Clusters without room that are read in one round before an evicted replica ends because none has any.
_DOUBTED: Final = 64
#: Needs for room of which the cluster that came nearest is read.
_NAMED: Final = 16


def find_spares(work: Work, ranks: Iterable[tuple[object, ...]]) -> list[str]:
    """Return the clusters that rank next, of those of which not every replica is known; the name stands last."""
    most = SPARES + _MORE_SPARES * len(work.view.residents)
    unread = (rank for rank in ranks if not work.ledger.is_exact(str(rank[-1])))
    return [str(rank[-1]) for rank in heapq.nsmallest(most, unread)]


def shortlist(work: Work, refused: Mapping[str, Mapping[str, Refusal]]) -> Needs:
    """Return the need for the replicas of the clusters that were chosen, and of the spare ones, as far as is bearable.

    What is left out is chosen again in the next round or pass. `refused` is, for each profile, why each candidate takes
    no other replica on it.
    """
    names = _bearable(work, [*work.unread, *work.doubted, *work.spares])
    if not _may_narrow(work, names):
        return Needs(residents=names)
    there = work.candidates.keys() & (names | work.view.residents.keys())
    return Needs(residents=names, shortlist=guess(work, refused, there))


def _may_narrow(work: Work, names: frozenset[str]) -> bool:
    """Tell whether the clusters that are read are enough for the next call.

    With several profiles that has to be confirmed. So the others stay in view where a rollout or an edit may place more
    than was guessed, where not all that was chosen is read, and where it is not known what takes room there.
    """
    if work.doubted or len(work.options) == 1:
        return not work.doubted
    known = all(work.ledger.knows_charges(work.candidates[name]) for name in names)
    return known and names.issuperset(work.unread) and not (work.rollout_step.waiting or work.reconsiders)


def _bearable(work: Work, clusters: Iterable[str]) -> frozenset[str]:
    """Return the first of the clusters, as many as have no more replicas than are read in a round."""
    left, names = MOST_READ, list[str]()
    for name in dict.fromkeys(clusters):
        left -= work.candidates[name].replicas
        if left < 0 and names:
            break
        names.append(name)
    return frozenset(names)


def _unread(work: Work, clusters: Iterable[str]) -> list[str]:
    return [name for name in clusters if not work.ledger.is_exact(name)]


def find_doubtful(work: Work, refusals: Mapping[str, Mapping[str, Refusal]]) -> list[str]:
    """Return the clusters that come nearest to having room for a profile and are not known exactly.

    `refusals` are those of each profile, by cluster.
    """
    if work.view.final:
        return []
    nearest = (list(nearest_pools(of_profile).values())[:_NAMED] for of_profile in refusals.values())
    return _unread(work, [cluster for needs in nearest for cluster, _ in needs])


def _nearest_first(work: Work, refusals: Mapping[str, Mapping[str, Refusal]]) -> list[str]:
    """Return the clusters that lack nothing but room for a profile and are not known exactly, the nearest first."""
    free: dict[str, int] = {}
    for name, refusal in [each for of_profile in refusals.values() for each in of_profile.items()]:
        if isinstance(refusal, NoRoom):
            free[name] = max(refusal.free, free.get(name, 0))
    return sorted(_unread(work, free), key=lambda name: (-free[name], name))


def verify(work: Work, refusals: Mapping[str, Mapping[str, Refusal]]) -> Needs | None:
    """Ask for the replicas of clusters of which a profile's refusal turns the decision, or is put into words."""
    if not work.missing or work.view.final:
        return None
    evicted = any(own.moving and own.leaving is EndCause.EVICTED and own.replica.serves for own in work.roster.members)
    names = _nearest_first(work, refusals)[:_DOUBTED] if evicted else find_doubtful(work, refusals)
    return Needs(residents=_bearable(work, names)) if names else None
