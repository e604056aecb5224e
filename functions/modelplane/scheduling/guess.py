"""What a call with all candidates in view guesses by what they publish, for the call that has read a shortlist of them.

With several profiles it is said of each why no more replicas run on it, over all candidates; and a shortlist with less
room than it published must not push replicas to a worse profile while another candidate hosts a better one. So what was
guessed is handed on, and holds only if what was read confirms it: the same placements, and of the shortlist the same
refusals. Otherwise all candidates are looked at again.
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
    """Return what was guessed; `refused` is, for each profile, why each candidate takes no other replica on it.

    With one profile nothing has to be confirmed: whatever is placed on the shortlist is placed on the best.
    """
    if len(work.options) == 1:
        return Guess()
    return Guess(tuple(_words(work, refused).items()), _choice(work, refused, shortlist))


def is_confirmed(work: Work, refused: _Refused) -> bool:
    """Tell whether what was decided on a shortlist is what was guessed; so it is where all candidates are in view."""
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
