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
from collections.abc import Collection, Iterable
from typing import Final

from modelplane.model.conditions import cap
from modelplane.model.names import digest
from modelplane.model.placement import EndCause, Guess, Needs
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.steps.decisions import Filled, Refused
from modelplane.scheduling.steps.holders import nearest_pools
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.words import word_refusals

#: Clusters that are read in addition to the chosen ones, and how many more for each that was read already.
SPARES: Final = 8
_MORE_SPARES: Final = 2
#: Most replicas that are read in one round, unless one cluster alone has more.
MOST_READ: Final = 3_000
#: Clusters without room that are read in one round before an evicted replica ends because none has any.
_DOUBTED: Final = 64
#: Most needs for room for which the nearest cluster is read.
_NAMED: Final = 16


def find_spares(given: PassInput, ranks: Iterable[tuple[object, ...]]) -> list[str]:
    """Return the next clusters by rank that are not known exactly; the cluster's name is the last part of a rank."""
    most = SPARES + _MORE_SPARES * len(given.view.residents)
    unread = (rank for rank in ranks if not given.ledger.is_exact(str(rank[-1])))
    return [str(rank[-1]) for rank in heapq.nsmallest(most, unread)]


def shortlist(given: PassInput, filled: Filled) -> Needs:
    """Return the need for the replicas of the chosen and the spare clusters, up to `MOST_READ`.

    Clusters that are left out are chosen again in the next round or pass.
    """
    names = _bearable(given, [*filled.unread, *filled.doubted, *filled.spares])
    if not _may_narrow(given, filled, names):
        return Needs(residents=names)
    there = given.candidates.keys() & (names | given.view.residents.keys())
    return Needs(residents=names, shortlist=guess(given, filled, there))


def _may_narrow(given: PassInput, filled: Filled, names: frozenset[str]) -> bool:
    """Tell whether the next call can decide on the clusters that are read.

    With several profiles the guess has to be confirmed. So the other candidates stay in view if a rollout or an edit
    may place more than was guessed, if not all chosen clusters are read, or if the charges of some are not known.
    """
    if filled.doubted or len(given.options) == 1:
        return not filled.doubted
    known = all(given.ledger.knows_charges(given.candidates[name]) for name in names)
    return known and names.issuperset(filled.unread) and not (given.rollout_step.waiting or given.reconsiders)


def _bearable(given: PassInput, clusters: Iterable[str]) -> frozenset[str]:
    """Return the first clusters, as many as have at most `MOST_READ` replicas together."""
    left, names = MOST_READ, list[str]()
    for name in dict.fromkeys(clusters):
        left -= given.candidates[name].replicas
        if left < 0 and names:
            break
        names.append(name)
    return frozenset(names)


def _unread(given: PassInput, clusters: Iterable[str]) -> list[str]:
    return [name for name in clusters if not given.ledger.is_exact(name)]


def find_doubtful(given: PassInput, refusals: Refused) -> list[str]:
    """Return the clusters that come nearest to having room for a profile, among those that are not known exactly.

    `refusals` are by profile and cluster.
    """
    if given.view.final:
        return []
    nearest = (list(nearest_pools(of_profile).values())[:_NAMED] for of_profile in refusals.values())
    return _unread(given, [cluster for needs in nearest for cluster, _ in needs])


def _nearest_first(given: PassInput, refusals: Refused) -> list[str]:
    """Return the clusters that lack only room for a profile and are not known exactly, the nearest first."""
    free: dict[str, int] = {}
    for name, refusal in [each for of_profile in refusals.values() for each in of_profile.items()]:
        if isinstance(refusal, NoRoom):
            free[name] = max(refusal.free, free.get(name, 0))
    return sorted(_unread(given, free), key=lambda name: (-free[name], name))


def verify(given: PassInput, filled: Filled) -> Needs | None:
    """Ask for the replicas of clusters whose refusal decides something, or appears in a message."""
    if not given.missing(filled.placed) or given.view.final:
        return None
    evicted = any(
        own.moving and own.leaving is EndCause.EVICTED and own.replica.has_served for own in given.roster.members
    )
    names = _nearest_first(given, filled.refused)[:_DOUBTED] if evicted else find_doubtful(given, filled.refused)
    return Needs(residents=_bearable(given, names)) if names else None


def guess(given: PassInput, filled: Filled, names: Collection[str]) -> Guess:
    """Return the guess for a call that decides on these clusters.

    With one profile nothing has to be confirmed: every placement on the shortlist is on the best profile.
    """
    if len(given.options) == 1:
        return Guess()
    return Guess(tuple(_words(given, filled.refused).items()), _choice(given, filled, names))


def is_confirmed(given: PassInput, filled: Filled) -> bool:
    """Tell whether the decision on a shortlist equals the guess; True where all candidates are in view."""
    guessed = given.view.shortlisted
    return guessed is None or not guessed.choice or guessed.choice == _choice(given, filled, given.candidates.keys())


def _words(given: PassInput, refused: Refused) -> dict[str, str]:
    return {profile: cap(word_refusals(found, given.deployment)) for profile, found in refused.items()}


def _choice(given: PassInput, filled: Filled, names: Collection[str]) -> str:
    """Return a digest of the placements and of what the shortlist lacks."""
    placed = sorted((each.cluster, each.profile) for each in filled.placed)
    there = {
        profile: {name: each for name, each in found.items() if name in names}
        for profile, found in filled.refused.items()
    }
    return digest(json.dumps([placed, _words(given, there)]))
