"""The guess of a call that sees all candidates as they publish themselves, checked by the call that reads a shortlist.

With several profiles the status says for each why no more replicas run on it, over all candidates. And a shortlist with
less room than it published must not push replicas to a worse profile while another candidate hosts a better one. So the
guess is carried to the next call, and holds if that call finds the same placements, and the same refusals on the
shortlist. Otherwise all candidates are considered again.
"""

import json
from collections.abc import Collection, Mapping

from modelplane.model.conditions import cap
from modelplane.model.names import digest
from modelplane.model.placement import Guess
from modelplane.model.refusal import Refusal
from modelplane.scheduling.explain import word_refusals
from modelplane.scheduling.work import Work

_Refused = Mapping[str, Mapping[str, Refusal]]


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
