"""Decides when calls are received and computed, so that any number of concurrent calls fit into a pod's memory.

gRPC receives a request as soon as the call has a thread, and all of it before the handler runs. A call without a thread
holds at most the window of its stream here (64 KiB); the rest waits with the caller. The size of a request is known
only once it is received. So two lanes admit calls: one always the oldest waiting call, the other in turn the newest and
the oldest. A lane is free again once its call turns out to be small, or is answered; large calls are computed one at a
time. So at most two large requests are held and every call gets its turn. A small one passes the large ones that wait,
as long as no more large ones arrive than are answered; otherwise it waits for most of those that came before it.

Calls that take long, whatever their size, are computed one at a time too (see `turns`). While one waits for its turn
another call has its place.

Rejected: `maximum_concurrent_rpcs` refuses calls that it does not admit, and any error of a pipeline sets the custom
conditions of a composite to Unknown. `grpc.max_concurrent_streams` makes callers wait too, but in the order of arrival,
and it is not known how long a call has waited.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from modelplane.transport import turns

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MIB: Final = 1024 * 1024

#: Memory that a function may take, in MiB: the limit of its pod in install/.
MEMORY: Final = 1024
#: Default for the largest request that is received, in MiB. Once read it takes three times as much memory.
LARGEST: Final = MEMORY * 3 // 32
#: A request of more bytes is large.
LARGE: Final = 1 * _MIB
#: Calls that have a thread. Python computes one at a time; more threads let short calls pass long ones.
THREADS: Final = 16
#: Seconds after which a lane no longer waits for a request that does not arrive.
STALLED: Final = 10.0


class Received:
    """A serialized request that can be taken out once: gRPC keeps the handler's argument alive until the call ends."""

    def __init__(self, wire: bytes) -> None:
        self._wire: bytes | None = wire
        #: Bytes of the request, also after it was taken.
        self.size: Final = len(wire)

    def take(self) -> bytes:
        """Return the request and drop the reference to it; raises ValueError the second time."""
        wire, self._wire = self._wire, None
        if wire is None:
            raise ValueError("a request is taken out once")
        return wire


class QueuedCall:
    """One call on its way through `Admission`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work: Final = work
        self.done: Final[Future[Any]] = Future()
        self.large = False
        #: Whether the call has a turn of the long ones.
        self.long = False
        self._arrived = time.monotonic()
        self._admitted: float | None = None

    @property
    def waited(self) -> float:
        """Return the seconds since the call arrived."""
        return time.monotonic() - self._arrived

    @property
    def stalled(self) -> bool:
        """Tell whether the call was admitted more than `STALLED` ago, and its request has not arrived yet."""
        return self._admitted is not None and time.monotonic() - self._admitted > STALLED

    def admit(self) -> None:
        """Record that the request may be received from now on."""
        self._admitted = time.monotonic()

    def receive(self, size: int) -> None:
        """Record that the request has arrived, with its size in bytes."""
        self._admitted, self.large = None, size > LARGE

    def run(self) -> None:
        """Let gRPC receive the request and call the handler."""
        try:
            self.done.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - a future passes on whatever ended its work
            self.done.set_exception(error)


class Admission(ThreadPoolExecutor):
    """The threads of gRPC's calls. Each call reports that it is `received`, and is then computed in its turn."""

    def __init__(self) -> None:
        super().__init__(THREADS + turns.MOST, "call")
        self._lock = threading.Lock()
        self._waiting: deque[QueuedCall] = deque()
        #: The calls admitted by the lanes: the lane of the oldest call, and that of the newest.
        self._lanes: list[QueuedCall | None] = [None, None]
        self._running = 0
        self._one_large = threading.Lock()
        self._turns = turns.Turns()
        #: Whether the second lane takes the newest call next.
        self._newest = True
        self._here = threading.local()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Run gRPC's part of a call, which receives the request and calls the handler, once it is admitted."""
        call = QueuedCall(partial(fn, *args, **kwargs))
        with self._lock:
            self._waiting.append(call)
            self._admit()
        return call.done

    def received(self, size: int) -> QueuedCall:
        """Wait until this thread's call may be computed, and return it; `size` is its request's in bytes."""
        call: QueuedCall = self._here.call
        call.receive(size)
        if call.large:
            self._one_large.acquire()
        else:
            with self._lock:
                self._free(call)
                self._admit()
        return call

    def turn(self, namespace: str) -> bool:
        """Wait for this thread's call, which takes long, until it may go on; False if it should end instead."""
        call: QueuedCall = self._here.call
        with self._lock:
            self._running -= 1
            self._admit()
        call.long = self._turns.take(namespace)
        with self._lock:
            self._running += 1
        return call.long

    def _admit(self) -> None:
        for lane in range(2):
            before = self._lanes[lane]
            if self._waiting and self._running < THREADS and (before is None or before.stalled):
                call = self._lanes[lane] = self._next(lane)
                call.admit()
                self._running += 1
                super().submit(self._run, call)

    def _next(self, lane: int) -> QueuedCall:
        if not lane or len(self._waiting) == 1:
            return self._waiting.popleft()
        newest, self._newest = self._newest, not self._newest
        return self._waiting.pop() if newest else self._waiting.popleft()

    def _free(self, call: QueuedCall) -> None:
        self._lanes = [None if admitted is call else admitted for admitted in self._lanes]

    def _run(self, call: QueuedCall) -> None:
        self._here.call = call
        try:
            call.run()
        finally:
            if call.large:
                self._one_large.release()
            if call.long:
                self._turns.give()
            with self._lock:
                self._running -= 1
                self._free(call)
                self._admit()
