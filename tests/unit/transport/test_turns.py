"""Long computations take turns: one at a time, fair by namespace, and short calls pass all that wait."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from modelplane.transport import admission, turns
from modelplane.transport.admission import Admission
from unit.transport.test_admission import PATIENCE, SMALL_SIZE


class LongCalls:
    """Calls that turn out to be long, and end when the test says so."""

    def __init__(self, calls: Admission) -> None:
        self._calls = calls
        self._ends: dict[str, threading.Event] = {}
        self._changed = threading.Condition()
        self.began: list[str] = []
        self.refused: list[str] = []

    def call(self, name: str) -> "Future[None]":
        """Make a call whose namespace is the part of its name before the dash."""
        self._ends[name] = threading.Event()
        return self._calls.submit(self._work, name)

    def end(self, name: str) -> None:
        """Let a call end."""
        self._ends[name].set()

    def until(self, began: list[str]) -> None:
        """Wait until these calls, in this order, have had their turn."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.began == began, PATIENCE), self.began

    def _work(self, name: str) -> None:
        self._calls.received(SMALL_SIZE)
        goes_on = self._calls.turn(name.partition("-")[0])
        with self._changed:
            (self.began if goes_on else self.refused).append(name)
            self._changed.notify_all()
        assert not goes_on or self._ends[name].wait(PATIENCE)


@pytest.fixture
def calls() -> Iterator[Admission]:
    with Admission() as admitted:
        yield admitted


def waiting(calls: Admission, number: int) -> None:
    """Wait until so many calls wait for a turn."""
    done = threading.Event()
    while sum(map(len, calls._turns._waiting.values())) < number:
        assert not done.wait(0.005)


def test_long_calls_are_computed_one_at_a_time_and_the_namespaces_take_turns(calls: Admission) -> None:
    long = LongCalls(calls)
    done, expected = [long.call("a-0")], ["a-0"]
    long.until(expected)
    for at, name in enumerate(("a-1", "a-2", "a-3", "b-0", "c-0")):
        done.append(long.call(name))
        waiting(calls, at + 1)
    for ended, next_one in zip(("a-0", "a-1", "b-0", "c-0", "a-2"), ("a-1", "b-0", "c-0", "a-2", "a-3"), strict=True):
        assert long.began == expected
        long.end(ended)
        expected.append(next_one)
        long.until(expected)
    long.end("a-3")
    for each in done:
        each.result(PATIENCE)


def test_a_short_call_has_a_thread_however_many_long_ones_wait(calls: Admission) -> None:
    long = LongCalls(calls)
    done = [long.call("a-0")]
    long.until(["a-0"])
    namespaces = [f"n{at}" for at in range(turns.MOST // turns.EACH)]
    names = [f"{name}-{at}" for name in namespaces for at in range(turns.EACH)]
    assert len(names) > admission.THREADS
    for at, name in enumerate(names):
        done.append(long.call(name))
        waiting(calls, at + 1)
    calls.submit(lambda: calls.received(SMALL_SIZE)).result(PATIENCE)
    for name in ("a-0", *names):
        long.end(name)
    for each in done:
        each.result(PATIENCE)


def test_a_long_call_ends_at_once_where_too_many_of_its_namespace_wait(calls: Admission) -> None:
    long = LongCalls(calls)
    done = [long.call("a-first")]
    long.until(["a-first"])
    for at in range(turns.EACH):
        done.append(long.call(f"a-{at}"))
        waiting(calls, at + 1)
    long.call("a-last").result(PATIENCE)
    assert long.refused == ["a-last"]
    done.append(long.call("b-0"))
    waiting(calls, turns.EACH + 1)
    for name in ("a-first", *(f"a-{at}" for at in range(turns.EACH)), "b-0"):
        long.end(name)
    for each in done:
        each.result(PATIENCE)
