"""Scenarios run side by side: mostly they wait, and each has clusters, nodes and a namespace of its own.

A scenario is a test that uses the control plane. All of a session start when its first test does, `AT_ONCE` at a time,
each in a thread; when pytest comes to a scenario, it waits for its end. pytest's markers say what a scenario needs:

    alone       the whole control plane: it runs when the others have ended, or on a control plane of its own
    takes(site) a site for itself: of the scenarios that take it, one runs at a time
    long        to start before the others, because it takes longest
"""

import contextlib
import hashlib
import inspect
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import pytest

from e2e.fleet import Fleet
from modelplane_dev.plane.control_plane import ControlPlane

#: Scenarios that run at the same time: so many that two cores are busy although most of them wait for the next look at
#: something, which comes once a minute.
AT_ONCE = 8
#: What the tests of a session have measured, to be printed at its end.
FIGURES = pytest.StashKey[list[str]]()
MARKERS = (
    "alone: runs when no other scenario does",
    "takes(site): runs when no other scenario takes this site",
    "long: starts before other scenarios",
)


def is_scenario(item: pytest.Item) -> bool:
    """Return whether a test uses the control plane beside others."""
    return _uses_plane(item) and not item.get_closest_marker("alone")


def order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return tests in the order in which pytest comes to them.

    What needs no control plane runs while the scenarios do, and what needs it alone comes last.
    """
    return sorted(items, key=lambda item: (_uses_plane(item), not is_scenario(item)))


def _uses_plane(item: pytest.Item) -> bool:
    return bool({"plane", "fleet"} & set(getattr(item, "fixturenames", ())))


@contextlib.contextmanager
def own_fleet(plane: ControlPlane, item: pytest.Item | pytest.Session) -> Iterator[Fleet]:
    """Give a test, or a session, clusters, nodes and a namespace of its own; everything is gone afterwards."""
    digest = hashlib.sha256(item.nodeid.encode()).hexdigest()[:6]
    mine = Fleet(plane, tag=f"t{digest}")
    mine.open()
    try:
        yield mine
    finally:
        item.config.stash[FIGURES] += mine.figures
        mine.close()
    mine.assert_status_is_kept()


class Scenarios:
    """The scenarios of a session, started together. Leaving it ends those that have not begun."""

    def __init__(self, plane: ControlPlane, items: Iterable[pytest.Item]) -> None:
        self.seconds: dict[str, float] = {}
        self._plane = plane
        self._sites: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="scenario")
        first = sorted(items, key=lambda item: item.get_closest_marker("long") is None)
        self._running: dict[str, Future[None]] = {item.nodeid: self._pool.submit(self._run, item) for item in first}

    def __contains__(self, item: pytest.Item) -> bool:
        """Return whether a test is one of them."""
        return item.nodeid in self._running

    def wait(self, item: pytest.Item) -> None:
        """Wait for the end of a scenario. Raises what it raised."""
        self._running[item.nodeid].result()

    def _run(self, item: pytest.Item) -> None:
        assert isinstance(item, pytest.Function)
        taken = item.get_closest_marker("takes")
        with self._sites[taken.args[0]] if taken else contextlib.nullcontext():
            started = time.monotonic()
            try:
                self._call(item)
            finally:
                self.seconds[item.name] = time.monotonic() - started

    def _call(self, item: pytest.Function) -> None:
        test: Callable[..., None] = item.obj
        given = {"plane": self._plane, **(item.callspec.params if hasattr(item, "callspec") else {})}
        wanted = inspect.signature(test).parameters
        with own_fleet(self._plane, item) if "fleet" in wanted else contextlib.nullcontext() as fleet:
            test(**{name: fleet if name == "fleet" else given[name] for name in wanted})

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Start no more. Those that run fail as soon as the control plane is gone."""
        self._pool.shutdown(wait=False, cancel_futures=True)
