"""Which call of a pass a step is in. Crossplane passes the context from call to call, and nothing else.

Crossplane calls a step again with what it requires, at most six times, and fails the pass if the requirements are not
stable by then. So the last call decides with what it has. In between, a shortlist replaces the candidates: they are by
far the largest part of what is fetched, and the clusters chosen among them are enough to decide.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.model.names import GROUP
from modelplane.model.placement import Guess
from modelplane.step import Request

#: Crossplane calls a function at most six times a pass; a decision that is not stable by then fails the reconcile.
CALLS: Final = 6
#: Context key of the state that later calls of a pass need from earlier ones (a JSON text).
_CONTEXT: Final = f"{GROUP}/schedule-rounds"
_NOTHING: Final = Guess()


@dataclass(frozen=True, slots=True)
class Rounds:
    """The number of earlier calls of this pass, and the clusters that the last call chose among all candidates, if any.

    `guess` is its guess for all candidates.
    """

    calls: int = 0
    shortlist: frozenset[str] = frozenset()
    guess: Guess = _NOTHING

    @property
    def final(self) -> bool:
        """Tell whether this call is the last one of its pass."""
        return self.calls >= CALLS - 1

    @property
    def may_narrow(self) -> bool:
        """Tell whether enough calls are left to read all candidates again if the shortlist does not suffice."""
        return self.calls <= CALLS - 4


def read_rounds(request: Request) -> Rounds:
    """Return how far the pass is. The first call writes no entry: the second one has fetched objects instead."""
    said = request.context.get(_CONTEXT)
    if not isinstance(said, str):
        return Rounds(calls=1 if request.required else 0)
    try:
        calls, names, why, choice = json.loads(said)
        of_profiles = tuple((str(name), str(text)) for name, text in why)
        return Rounds(int(calls), frozenset(map(str, names)), Guess(of_profiles, str(choice)))
    except (ValueError, TypeError):
        return Rounds(calls=1)


def write_rounds(rounds: Rounds) -> Mapping[str, Any]:
    """Return the context entry for the next call."""
    said = [rounds.calls + 1, sorted(rounds.shortlist), rounds.guess.why, rounds.guess.choice]
    return {_CONTEXT: json.dumps(said, separators=(",", ":"))}
