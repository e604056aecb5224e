"""The work that the exact searches of a pass may do, counted in states: deterministic, where time is not.

A state is one step of a search: a request given to an entry, two choices joined, a check of room. What a search
finds is remembered with the states it took, and a pass that finds it remembered is charged the same states. So what a
pass decides depends on its input alone, never on what happens to be remembered.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar, cast

from modelplane.lru import Lru
from modelplane.model.refusal import SearchBound

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_UNKNOWN: Final = object()

#: Most states of one search.
SEARCH_STATES = 30_000
#: Most states of a pass that may go into searches that hit their bound.
FRUITLESS_STATES = 60_000
#: Most options of an engine on a pool; what has more is not decided, however quickly they are found.
MOST_OPTIONS = 2_000
#: States of a pass, however few clusters there are.
PASS_STATES = 100_000
#: States that a pass has more for each cluster it looks at: its work may grow with the fleet, which is the platform's.
#: That is what a spec of 2,000 distinct ways takes at the most on a cluster that is like no other.
CLUSTER_STATES = 25_000
#: Most states of a pass, whatever the fleet: 10 to 20 seconds.
MOST_STATES = 2_500_000

#: Most states of a pass that go into the words of refusals: into which of a selector's conditions a device fails.
WORDING_STATES = 20_000
#: Work of an evaluation that counts as a state: about as much as a step of a search.
_WORK: Final = 10


def states_of(work: int) -> int:
    """Return the states that evaluating a selector counts, of the work that it took."""
    return 1 + work // _WORK


class OutOfStatesError(Exception):
    """A search hit its bound."""


class Meter:
    """Counts the states of one search and ends it at `limit`."""

    __slots__ = ("limit", "spent")

    def __init__(self, limit: int = SEARCH_STATES) -> None:
        self.limit = limit
        self.spent = 0

    @property
    def whole(self) -> bool:
        """Tell whether the limit is that of a search, not what a pass had left."""
        return self.limit == SEARCH_STATES

    def spend(self, states: int = 1) -> None:
        """Count states. Raises OutOfStatesError above the limit."""
        self.spent += states
        if self.spent > self.limit:
            raise OutOfStatesError

    def add(self, states: int) -> None:
        """Count states of what says more of an outcome that is found already: they end nothing but what comes later."""
        self.spent += states

    def check(self, options: int) -> None:
        """Raise OutOfStatesError when more options are found than are distinguished."""
        if options > MOST_OPTIONS:
            raise OutOfStatesError


class SearchBudget:
    """The states that a pass has left, and what it has found with the others; `fruitless`: those of which nothing came.

    Once they are spent nothing new is looked at, however little it takes.
    """

    def __init__(self, clusters: int = 0) -> None:
        self.states = max(PASS_STATES, min(PASS_STATES + CLUSTER_STATES * clusters, MOST_STATES))
        self.left = self.states
        self.fruitless = 0
        self.found: dict[Hashable, Any] = {}


class Searches(Generic[K, V]):
    """What searches found by what they turn on, with the states they took; bounded by weight, shared by threads."""

    def __init__(self, limit: int, weigh: Callable[[K, V | SearchBound], int]) -> None:
        #: None for a search that takes more than so many states, which were all that the pass had left.
        self._remembered: Lru[tuple[V | SearchBound | None, int]] = Lru(limit)
        self._weigh = weigh

    def find(self, key: K, budget: SearchBudget, search: Callable[[Meter], V]) -> V | SearchBound:
        """Return what the search finds, charged to the budget once a pass.

        SearchBound where it takes more states than a search may, or than the pass has left.
        """
        known = budget.found.get((self, key), _UNKNOWN)
        if known is _UNKNOWN:
            known = budget.found[self, key] = self._look(key, budget, search)
        return cast("V | SearchBound", known)

    def _look(self, key: K, budget: SearchBudget, search: Callable[[Meter], V]) -> V | SearchBound:
        if not budget.left:
            return SearchBound(budget.states)

        def run() -> tuple[tuple[V | SearchBound | None, int], int]:
            meter = Meter(min(SEARCH_STATES, budget.left))
            found: V | SearchBound | None = SearchBound(SEARCH_STATES) if meter.whole else None
            with suppress(OutOfStatesError):
                found = search(meter)
            # Of a search that the pass ended it is known that it takes more than this.
            states = meter.limit + 1 if found is None else min(meter.spent, SEARCH_STATES)
            return (found, states), self._weigh(key, SearchBound(states) if found is None else found)

        found, states = self._remembered.get(key, run)
        if found is None and states <= budget.left:
            (found, states), weight = run()
            self._remembered.put(key, (found, states), weight)
        if found is None or states > budget.left:
            budget.left = 0
            return SearchBound(budget.states)
        budget.left -= states
        if isinstance(found, SearchBound):
            # What hits a bound on one cluster mostly does on all: it must not have the states of the whole fleet.
            budget.fruitless += states
            if budget.fruitless >= FRUITLESS_STATES:
                budget.left = 0
        return found
