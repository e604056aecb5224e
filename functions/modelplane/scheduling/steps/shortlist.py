"""Chooses the clusters whose replicas a pass reads before it places anything, so that placements are exact.

Candidates are ranked by what they published in their last pass. The chosen ones are read, with a few that rank next, so
that a cluster that turns out to be full does not take another round. Clusters that publish no room are refused without
being read, except those that a refusal names and those on which the end of an evicted replica depends.

With several profiles the status says for each why no more replicas run on it, over all candidates. And a shortlist with
less room than it published must not push replicas to a worse profile while another candidate hosts a better one. So the
guess of a call that sees all candidates is carried to the next call, and holds if that call finds the same placements,
and the same refusals on the shortlist. Otherwise all candidates are considered again.
"""

import heapq
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from modelplane.model.conditions import cap
from modelplane.model.names import digest
from modelplane.model.placement import EndCause, Guess, Needs
from modelplane.model.refusal import NoRoom, Refusal
from modelplane.scheduling.steps.holders import nearest_pools
from modelplane.scheduling.steps.work import Work
from modelplane.scheduling.words import word_refusals

#: Why each candidate takes no other replica, by profile.
_Refused = Mapping[str, Mapping[str, Refusal]]

#: Clusters that are read in addition to the chosen ones, and how many more for each that was read already.
SPARES: Final = 8
_MORE_SPARES: Final = 2
#: Most replicas that are read in one round, unless one cluster alone has more.
MOST_READ: Final = 3_000
#: Clusters without room that are read in one round before an evicted replica ends because none has any.
_DOUBTED: Final = 64
#: Most needs for room for which the nearest cluster is read.
_NAMED: Final = 16


def find_spares(work: Work, ranks: Iterable[tuple[object, ...]]) -> list[str]:
    """Return the next clusters by rank that are not known exactly; the cluster's name is the last part of a rank."""
    most = SPARES + _MORE_SPARES * len(work.view.residents)
    unread = (rank for rank in ranks if not work.ledger.is_exact(str(rank[-1])))
    return [str(rank[-1]) for rank in heapq.nsmallest(most, unread)]


def shortlist(work: Work, refused: Mapping[str, Mapping[str, Refusal]]) -> Needs:
    """Return the need for the replicas of the chosen and the spare clusters, up to `MOST_READ`.

    Clusters that are left out are chosen again in the next round or pass. `refused` says, for each profile, why each
    candidate takes no other replica on it.
    """
    names = _bearable(work, [*work.unread, *work.doubted, *work.spares])
    if not _may_narrow(work, names):
        return Needs(residents=names)
    there = work.candidates.keys() & (names | work.view.residents.keys())
    return Needs(residents=names, shortlist=guess(work, refused, there))


def _may_narrow(work: Work, names: frozenset[str]) -> bool:
    """Tell whether the next call can decide on the clusters that are read.

    With several profiles the guess has to be confirmed. So the other candidates stay in view if a rollout or an edit
    may place more than was guessed, if not all chosen clusters are read, or if the charges of some are not known.
    """
    if work.doubted or len(work.options) == 1:
        return not work.doubted
    known = all(work.ledger.knows_charges(work.candidates[name]) for name in names)
    return known and names.issuperset(work.unread) and not (work.rollout_step.waiting or work.reconsiders)


def _bearable(work: Work, clusters: Iterable[str]) -> frozenset[str]:
    """Return the first clusters, as many as have at most `MOST_READ` replicas together."""
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
    """Return the clusters that come nearest to having room for a profile, among those that are not known exactly.

    `refusals` are by profile and cluster.
    """
    if work.view.final:
        return []
    nearest = (list(nearest_pools(of_profile).values())[:_NAMED] for of_profile in refusals.values())
    return _unread(work, [cluster for needs in nearest for cluster, _ in needs])


def _nearest_first(work: Work, refusals: Mapping[str, Mapping[str, Refusal]]) -> list[str]:
    """Return the clusters that lack only room for a profile and are not known exactly, the nearest first."""
    free: dict[str, int] = {}
    for name, refusal in [each for of_profile in refusals.values() for each in of_profile.items()]:
        if isinstance(refusal, NoRoom):
            free[name] = max(refusal.free, free.get(name, 0))
    return sorted(_unread(work, free), key=lambda name: (-free[name], name))


def verify(work: Work, refusals: Mapping[str, Mapping[str, Refusal]]) -> Needs | None:
    """Ask for the replicas of clusters whose refusal decides something, or appears in a message."""
    if not work.missing or work.view.final:
        return None
    evicted = any(
        own.moving and own.leaving is EndCause.EVICTED and own.replica.has_served for own in work.roster.members
    )
    names = _nearest_first(work, refusals)[:_DOUBTED] if evicted else find_doubtful(work, refusals)
    return Needs(residents=_bearable(work, names)) if names else None


def guess(work: Work, refused: _Refused, shortlist: Collection[str]) -> Guess:
    """Return the guess; `refused` says, for each profile, why each candidate takes no other replica on it.

    With one profile nothing has to be confirmed: every placement on the shortlist is on the best profile.
    """
    if len(work.options) == 1:
        return Guess()
    return Guess(tuple(_words(work, refused).items()), _choice(work, refused, shortlist))


def is_confirmed(work: Work, refused: _Refused) -> bool:
    """Tell whether the decision on a shortlist equals the guess; True where all candidates are in view."""
    guessed = work.view.shortlisted
    return guessed is None or not guessed.choice or guessed.choice == _choice(work, refused, work.candidates.keys())


def _words(work: Work, refused: _Refused) -> dict[str, str]:
    return {profile: cap(word_refusals(found, work.deployment)) for profile, found in refused.items()}


def _choice(work: Work, refused: _Refused, shortlist: Collection[str]) -> str:
    """Return a digest of the placements and of what the shortlist lacks."""
    placed = sorted((each.cluster, each.profile) for each in work.placed)
    there = {
        profile: {name: each for name, each in found.items() if name in shortlist} for profile, found in refused.items()
    }
    return digest(json.dumps([placed, _words(work, there)]))
