"""How much of the searches one call may work out itself, and when a long one takes its turn among others.

What a search finds depends on its input alone; how long it takes must not hold up other calls. So a server gives each
call an allowance of states. When it is used up, what was not reached is postponed to the next pass, which finds what
this one has worked out in the caches, at no cost. Where no allowance is given, such as in the preview, nothing is
postponed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

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
