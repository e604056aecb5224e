"""The work that exact searches may do, in a pass and in a call, in states because time is not deterministic.

A state is some 4 microseconds of a search: assigning a request to an entry, joining two choices; checking room is
several. Results are cached with the states they took, and a cache hit costs a pass the same states. So a decision
depends on the pass's input alone, never on what is cached.

What a search finds depends on its input alone; how long it takes must not hold up other calls. So a server gives each
call an allowance of states. When it is used up, what was not reached is postponed to the next pass, which finds what
this one has worked out in the caches, at no cost: what a call decides is what a call without an allowance would have
decided. Where no allowance is given, such as in the preview, nothing is postponed.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, Generic, TypeVar, cast

from modelplane.lru import FairLru
from modelplane.model.refusal import SearchBound

#: States that a call works out itself: as many as a search may take, so that each call finishes one at least. A quarter
#: of a second of processor time on the machine of docs/scale.md.
CALL_STATES: Final = 60_000
#: States after which a call is long, and waits for its turn: some 20 ms.
SHORT_STATES: Final = 4_000
_ENDLESS: Final = 1 << 62


class PostponedError(Exception):
    """The call has used up its allowance; the search begins anew in the next pass."""


def _at_once() -> bool:
    return True


class Allowance:
    """The states that a call may still work out.

    `turn` is called once, when the call turns out to be long. It returns when the call may go on, or False if the call
    should end instead.
    """

    __slots__ = ("_short", "_turn", "left")

    def __init__(self, states: int = CALL_STATES, turn: Callable[[], bool] = _at_once) -> None:
        self.left = states
        self._short = min(states, SHORT_STATES)
        self._turn = turn

    @property
    def next_stop(self) -> int:
        """Return how many states a search may take before it has to ask again."""
        return min(self.left, self._short)

    def go_on(self, spent: int) -> int:
        """Return the next stop of a search that has spent more than the last one. Raises PostponedError."""
        if spent > self._short and self._short < self.left:
            self._short = _ENDLESS
            if not self._turn():
                self.left = 0
        if spent > self.left:
            raise PostponedError
        return self.left

    def spend(self, states: int) -> None:
        """Count the states of a search that has ended."""
        self.left = max(0, self.left - states)
        self._short = max(0, self._short - states)


_CURRENT: Final[ContextVar[Allowance | None]] = ContextVar("allowance", default=None)


def current() -> Allowance:
    """Return the allowance of this call, an endless one where none was given."""
    return _CURRENT.get() or Allowance(_ENDLESS)


@contextmanager
def allowed(allowance: Allowance) -> Iterator[None]:
    """Give what runs in the `with` statement an allowance."""
    token = _CURRENT.set(allowance)
    try:
        yield
    finally:
        _CURRENT.reset(token)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_UNKNOWN: Final = object()

#: Most states of one search.
SEARCH_STATES = 60_000
#: Most states of a pass that may go into searches that hit their bound.
FRUITLESS_STATES = 120_000
#: Most options of an engine on a pool. With more it is not decided, however quickly they are found.
MOST_OPTIONS = 2_000
#: Fewest states of a decision, however few clusters there are.
PASS_STATES = 400_000
#: Additional states of a decision for each cluster it considers: work may grow with the fleet, whose size is the
#: platform's.
#: A spec of 2,000 distinct ways takes at most this on a cluster unlike all others.
CLUSTER_STATES = 100_000
#: Most states of a decision, whatever the fleet: 40 seconds, in many passes.
MOST_STATES = 10_000_000

#: Most states of a pass for the text of refusals: for finding which of a selector's conditions a device fails.
WORDING_STATES = 20_000
#: Work of an evaluation that counts as a state: about as much as a step of a search.
_WORK: Final = 10


def states_of(work: int) -> int:
    """Return the states that the work of evaluating a selector counts as."""
    return 1 + work // _WORK


class OutOfStatesError(Exception):
    """A search hit its bound."""


class Meter:
    """Counts the states of one search and ends it at `limit`, or where the allowance of the call is used up."""

    __slots__ = ("_allowance", "_stop", "limit", "spent", "whole")

    def __init__(self, limit: int = SEARCH_STATES, allowance: Allowance | None = None) -> None:
        self.limit = limit
        #: Whether the limit is a search's own, not what the pass had left.
        self.whole = limit == SEARCH_STATES
        self.spent = 0
        self._allowance = allowance
        self._stop = limit if allowance is None else min(limit, allowance.next_stop)

    def spend(self, states: int = 1) -> None:
        """Count states. Raises OutOfStatesError above the limit, PostponedError above the allowance."""
        self.spent += states
        if self.spent > self._stop:
            self._go_on()

    def _go_on(self) -> None:
        if self.spent > self.limit or self._allowance is None:
            raise OutOfStatesError
        self._stop = min(self.limit, self._allowance.go_on(self.spent))

    def shorten(self, states: int) -> None:
        """End the search after so many more states, if its limit does not end it earlier."""
        if self.spent + states <= self.limit:
            self.limit, self.whole = self.spent + states, True
            self._stop = min(self._stop, self.limit)

    def add(self, states: int) -> None:
        """Count states that only add detail to a result: they never end this search, only later ones."""
        self.spent += states

    def check(self, options: int) -> None:
        """Raise OutOfStatesError when there are more than `MOST_OPTIONS` options."""
        if options > MOST_OPTIONS:
            raise OutOfStatesError


class SearchBudget:
    """The states that a pass has left, and what it has found. `fruitless`: states of searches that hit their bound.

    Once the states are spent no new search is started, however short. `postponed`: neither is it in this call, because
    the call has used up its allowance.
    """

    def __init__(self, clusters: int = 0) -> None:
        self.states = max(PASS_STATES, min(PASS_STATES + CLUSTER_STATES * clusters, MOST_STATES))
        self.left = self.states
        self.fruitless = 0
        self.found: dict[Hashable, Any] = {}
        self.allowance = current()
        self.postponed = False


class Searches(Generic[K, V]):
    """A cache of search results by their inputs, with the states they took; bounded in bytes, shared by threads.

    Namespaces have fair shares of it, so that a search of many passes goes on whatever the others search.
    """

    def __init__(
        self,
        limit: int,
        weigh: Callable[[K, V | SearchBound], int],
        share: Callable[[K], tuple[Hashable, int]] | None = None,
    ) -> None:
        #: (result, states). The result is None for a search that was ended because its pass had no states left.
        self._remembered: FairLru[tuple[V | SearchBound | None, int]] = FairLru(limit, share)
        self._weigh = weigh

    def find(self, key: K, budget: SearchBudget, search: Callable[[Meter], V]) -> V | SearchBound:
        """Return the search's result; the budget is charged once for it in a pass.

        SearchBound if it takes more states than a search may take, or than the pass has left.
        """
        known = budget.found.get((self, key), _UNKNOWN)
        if known is _UNKNOWN:
            known = budget.found[self, key] = self._look(key, budget, search)
        return cast("V | SearchBound", known)

    def _look(self, key: K, budget: SearchBudget, search: Callable[[Meter], V]) -> V | SearchBound:
        if budget.postponed or not budget.left:
            return SearchBound(budget.states, postponed=budget.postponed)
        known = self._remembered.find(key)
        if known is None or (known[0] is None and known[1] <= budget.left):
            try:
                known = self._work_out(key, budget, search)
            except PostponedError:
                budget.postponed = True
                return SearchBound(budget.states, postponed=True)
        found, states = known
        if found is None or states > budget.left:
            budget.left = 0
            return SearchBound(budget.states)
        budget.left -= states
        if isinstance(found, SearchBound):
            # A search that hits its bound on one cluster mostly does so on all; it must not use the whole fleet's
            # states.
            budget.fruitless += states
            if budget.fruitless >= FRUITLESS_STATES:
                budget.left = 0
        return found

    def _work_out(
        self, key: K, budget: SearchBudget, search: Callable[[Meter], V]
    ) -> tuple[V | SearchBound | None, int]:
        """Return the search's result with its states, and cache it. Raises PostponedError."""
        meter = Meter(min(SEARCH_STATES, budget.left), budget.allowance)
        found: V | SearchBound | None = SearchBound(SEARCH_STATES) if meter.whole else None
        try:
            with suppress(OutOfStatesError):
                found = search(meter)
        finally:
            budget.allowance.spend(meter.spent)
        # A search that the pass ended takes at least one state more than it was given.
        states = meter.limit + 1 if found is None else min(meter.spent, SEARCH_STATES)
        self._remembered.put(key, (found, states), self._weigh(key, SearchBound(states) if found is None else found))
        return found, states
