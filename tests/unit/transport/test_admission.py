"""Calls are received and computed so that any number of them at once holds little memory, and small ones pass."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from modelplane.cli.serve import FUNCTIONS
from modelplane.transport import admission
from modelplane.transport.admission import LARGE, Admission, Received

SMALL_SIZE, LARGE_SIZE = 1000, LARGE + 1
PATIENCE = 120.0


class Caller:
    """Makes calls whose requests arrive and whose handlers end when the test says so."""

    def __init__(self, calls: Admission) -> None:
        self._calls = calls
        self.began: list[str] = []
        self.computed: list[str] = []
        self._arrived: dict[str, threading.Event] = {}
        self._ended: dict[str, threading.Event] = {}
        self._changed = threading.Condition()

    def call(self, name: str, size: int | None) -> "Future[None]":
        """Make a call with a request of a size, None for one whose caller is gone before it is received."""
        self._arrived[name], self._ended[name] = threading.Event(), threading.Event()
        return self._calls.submit(self._work, name, size)

    def let(self, *names: str) -> None:
        """Let the requests of calls arrive, and their handlers end."""
        for name in names:
            self._arrived[name].set()
            self._ended[name].set()

    def arrive(self, *names: str) -> None:
        """Let the requests of calls arrive."""
        for name in names:
            self._arrived[name].set()

    def until(
        self, *, began: set[str] | None = None, computed: set[str] | None = None, computing: int | None = None
    ) -> None:
        """Wait until just these calls are being received or were, and just these, or so many, computed."""

        def reached() -> bool:
            met = began in (None, set(self.began)) and computed in (None, set(self.computed))
            return met and computing in (None, len(self.computed))

        with self._changed:
            assert self._changed.wait_for(reached, PATIENCE), (self.began, self.computed)

    def _work(self, name: str, size: int | None) -> None:
        self._note(self.began, name)
        assert self._arrived[name].wait(PATIENCE)
        if size is not None:
            self._calls.received(size)
            self._note(self.computed, name)
            assert self._ended[name].wait(PATIENCE)

    def _note(self, where: list[str], name: str) -> None:
        with self._changed:
            where.append(name)
            self._changed.notify_all()


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Iterator[Caller]:
    """Give a caller none of whose requests counts as stalled, however long the machine takes for what comes next."""
    monkeypatch.setattr(admission, "STALLED", PATIENCE)
    with Admission() as calls:
        yield Caller(calls)


def test_of_many_calls_the_oldest_and_the_newest_are_received(caller: Caller) -> None:
    done = [caller.call(name, LARGE_SIZE) for name in "abcde"]
    caller.until(began={"a", "b"})  # when these came, the lanes were free
    caller.let("a")
    caller.until(began={"a", "b", "c"}, computed={"a"})
    caller.let("b")
    caller.until(began={"a", "b", "c", "e"})
    caller.let(*"cde")
    for each in done:
        each.result(PATIENCE)
    assert sorted(caller.computed) == list("abcde")


def test_large_calls_are_computed_one_at_a_time(caller: Caller) -> None:
    done = [caller.call(name, LARGE_SIZE) for name in "ab"]
    caller.arrive("a")
    caller.until(computed={"a"})
    caller.arrive("b")
    with pytest.raises(TimeoutError):
        done[1].result(0.05)
    assert caller.computed == ["a"]
    caller.let("a", "b")
    for each in done:
        each.result(PATIENCE)


def test_a_small_call_passes_large_ones_that_wait_and_is_computed_beside_one(caller: Caller) -> None:
    large = [caller.call(f"large {number}", LARGE_SIZE) for number in range(10)]
    small = caller.call("small", SMALL_SIZE)
    caller.let("large 0", "large 1", "small")  # the two that the lanes had taken
    small.result(PATIENCE)
    assert len(caller.computed) <= 4
    caller.let(*(f"large {number}" for number in range(10)))
    for each in large:
        each.result(PATIENCE)


def test_small_calls_are_computed_beside_one_another_as_far_as_there_are_threads(caller: Caller) -> None:
    names = [f"small {number}" for number in range(admission.THREADS + 3)]
    done = [caller.call(name, SMALL_SIZE) for name in names]
    caller.arrive(*names)
    caller.until(computing=admission.THREADS)
    assert not any(each.done() for each in done)
    caller.let(*names)
    for each in done:
        each.result(PATIENCE)
    assert sorted(caller.computed) == sorted(names)


def test_a_call_whose_caller_is_gone_before_it_is_received_frees_its_lane(caller: Caller) -> None:
    gone = [caller.call(f"gone {number}", None) for number in range(4)]
    last = caller.call("last", LARGE_SIZE)
    caller.let(*(f"gone {number}" for number in range(4)), "last")
    for each in [*gone, last]:
        each.result(PATIENCE)
    assert caller.computed == ["last"]


def test_requests_that_do_not_arrive_do_not_hold_up_others(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = [caller.call(f"stuck {number}", SMALL_SIZE) for number in range(2)]
    caller.until(began={"stuck 0", "stuck 1"})
    monkeypatch.setattr(admission, "STALLED", 0.0)
    passing = caller.call("passing", SMALL_SIZE)
    caller.let("passing")
    passing.result(PATIENCE)
    caller.let("stuck 0", "stuck 1")
    for each in stuck:
        each.result(PATIENCE)


def test_what_a_call_raises_is_its_own() -> None:
    with Admission() as calls:
        failed = calls.submit(lambda: 1 // 0)
        assert isinstance(failed.exception(PATIENCE), ZeroDivisionError)
        assert calls.submit(lambda: 7).result(PATIENCE) == 7


def test_a_call_knows_how_long_it_has_waited() -> None:
    with Admission() as calls:
        assert 0 <= calls.submit(lambda: calls.received(1).waited).result(PATIENCE) < PATIENCE


def test_a_request_is_taken_out_once() -> None:
    received = Received(b"wire")
    assert (received.size, received.take(), received.size) == (4, b"wire", 4)
    with pytest.raises(ValueError, match="once"):
        received.take()


_MIB = 1024 * 1024


def test_a_pod_s_limit_is_what_a_function_may_take() -> None:
    file = Path(__file__).parents[3] / "install" / "functions.yaml"
    (config,) = (each for each in yaml.safe_load_all(file.read_text()) if each["kind"] == "DeploymentRuntimeConfig")
    (container,) = config["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"memory": f"{admission.MEMORY}Mi"}


def _kept(function: str) -> int:
    """Return the limits of all caches of a function's process together, in bytes."""
    script = Path(__file__).with_name("cache_limits.py")
    done = subprocess.run([sys.executable, str(script), function], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_what_a_function_holds_at_the_most_fits_into_what_it_may_take() -> None:
    with ThreadPoolExecutor() as processes:
        kept = dict(zip(FUNCTIONS, processes.map(_kept, FUNCTIONS), strict=True))
    idle, received_and_read = 70 * _MIB, 3 * _MIB
    for function, caches in kept.items():
        assert caches > 100 * _MIB, function
        assert idle + caches + 2 * received_and_read * admission.LARGEST <= admission.MEMORY * _MIB, function
