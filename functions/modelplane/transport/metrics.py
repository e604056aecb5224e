"""Metrics of a function for Prometheus: how many calls, how long they took, waited, and how large they were.

Crossplane counts calls of functions too (`function_run_function_seconds`), from five milliseconds on and without the
composite's kind. No label holds text that a team chooses: the kind is one that the function composes, or "other".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, ParamSpec, TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, start_http_server

from modelplane.transport.server import LAST_PORT, ListenError

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: The kind of a composite that the function does not compose.
OTHER: Final = "other"
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BYTES: Final = tuple(2.0**power for power in range(16, 27))


class Outcome(StrEnum):
    """How a call ended: refused is a fatal result that the function intends, failed one that is a defect."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call that was answered. Times are in seconds, sizes in bytes; `waited` is the time before it was computed."""

    kind: str
    outcome: Outcome
    seconds: float
    waited: float
    received: int
    sent: int


#: Is called after each answer.
Record = Callable[[Exchange], None]


class Metrics:
    """The metrics of one function, which composes `kinds`."""

    def __init__(self, function: str, kinds: Iterable[str]) -> None:
        disable_created_metrics()
        self.registry: Final = CollectorRegistry()
        self._function: Final = function
        self._kinds: Final = frozenset(kinds)
        by = ("function", "kind")
        self._calls = Counter(
            "modelplane_function_calls", "Calls that were answered.", (*by, "outcome"), registry=self.registry
        )
        self._duration = self._histogram("duration_seconds", "Time to compute an answer.", _SECONDS)
        self._waited = self._histogram("waited_seconds", "Time before a call was computed.", _SECONDS)
        self._received = self._histogram("request_bytes", "Size of requests.", _BYTES)
        self._sent = self._histogram("response_bytes", "Size of responses.", _BYTES)
        self._in_progress = Gauge(
            "modelplane_function_in_progress", "Calls that are computed now.", ("function",), registry=self.registry
        ).labels(function)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(
            f"modelplane_function_{name}", text, ("function", "kind"), buckets=buckets, registry=self.registry
        )

    @cache  # noqa: B019 - a function has one for as long as it runs; to look a series up takes longer than to count
    def _series(self, kind: str, outcome: Outcome) -> tuple[Counter, tuple[Histogram, ...]]:
        by = self._function, kind
        measured = self._duration, self._waited, self._received, self._sent
        return self._calls.labels(*by, outcome), tuple(each.labels(*by) for each in measured)

    def record(self, done: Exchange) -> None:
        """Count a call that was answered."""
        calls, measured = self._series(done.kind if done.kind in self._kinds else OTHER, done.outcome)
        calls.inc()
        for each, amount in zip(measured, (done.seconds, done.waited, done.received, done.sent), strict=True):
            each.observe(amount)

    def counted(self, answer: Callable[_P, _T]) -> Callable[_P, _T]:
        """Return what answers as `answer` does, and counts as in progress meanwhile."""

        def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            with self._in_progress.track_inprogress():
                return answer(*args, **kwargs)

        return call

    def serve(self, address: str) -> int:
        """Answer scrapes at HOST:PORT on a thread of its own until the process ends, and return the port.

        Raises ListenError.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > LAST_PORT:
            raise ListenError(f"cannot serve metrics at {address}: give HOST:PORT, such as 0.0.0.0:8080")
        try:
            server, _ = start_http_server(int(port), host.strip("[]"), self.registry)
        except OSError as error:
            raise ListenError(f"cannot serve metrics at {address}: {error.strerror or error}") from error
        structlog.get_logger().info("metrics are served", metrics_port=server.server_port)
        return int(server.server_port)
