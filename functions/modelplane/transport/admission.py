"""When a call is received and when it is computed, so that any number of calls at once fit into a pod's memory.

gRPC receives a request as soon as there is a thread for the call, and the whole of it before the handler runs. A call
that has no thread holds at most the window of its stream here (64 KiB); the rest waits on the caller's side. How large
a request is shows once it is here. So two lanes admit calls: one always the oldest, one always the newest that waits.
A lane is free again once the call that it admitted turns out small, or is answered; large ones are computed one at a
time. No more than two large requests are ever held, every call comes to its turn, and a small one comes to it soon,
however many large ones wait.

Rejected: `maximum_concurrent_rpcs` refuses what it does not admit, and any error of a pipeline sets the custom
conditions of a composite to Unknown. `grpc.max_concurrent_streams` lets callers wait too, but in the order in which
they came, and how long a call has waited is not known.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MIB: Final = 1024 * 1024

#: Memory that a function may take, in MiB: the limit of its pod in install/.
MEMORY: Final = 1024
#: Largest request that is received, in MiB, by default. Received and read it takes three times as much.
LARGEST: Final = MEMORY * 3 // 32
#: A request of more bytes is large.
LARGE: Final = 1 * _MIB
#: Calls that have a thread. Python computes one at a time; more threads let short calls pass long ones.
THREADS: Final = 16
#: Seconds after which a lane no longer waits for a request that does not arrive.
STALLED: Final = 10.0


class Received:
    """A serialized request, to be taken out once: gRPC holds on to what it hands to a handler until the call ends."""

    def __init__(self, wire: bytes) -> None:
        self._wire: bytes | None = wire
        #: Bytes of the request, also when it is taken out.
        self.size: Final = len(wire)

    def take(self) -> bytes:
        """Return the request and let go of it; raises ValueError the second time."""
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
        self._arrived = time.monotonic()
        self._admitted: float | None = None

    @property
    def waited(self) -> float:
        """Return the seconds since the call arrived."""
        return time.monotonic() - self._arrived

    @property
    def stalled(self) -> bool:
        """Tell whether the call was admitted long ago, and its request is not here yet."""
        return self._admitted is not None and time.monotonic() - self._admitted > STALLED

    def admit(self) -> None:
        """Note that the request may be received from now on."""
        self._admitted = time.monotonic()

    def receive(self, size: int) -> None:
        """Note that the request is here, and its size in bytes."""
        self._admitted, self.large = None, size > LARGE

    def run(self) -> None:
        """Let gRPC receive the request and call the handler."""
        try:
            self.done.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - a future passes on whatever ended its work
            self.done.set_exception(error)


class Admission(ThreadPoolExecutor):
    """The threads of gRPC's calls. Each call has to tell once it is `received`, and is then computed in its turn."""

    def __init__(self) -> None:
        super().__init__(THREADS, "call")
        self._lock = threading.Lock()
        self._waiting: deque[QueuedCall] = deque()
        #: The calls that the lanes have admitted: the lane of the oldest, the lane of the newest.
        self._lanes: list[QueuedCall | None] = [None, None]
        self._running = 0
        self._one_large = threading.Lock()
        self._here = threading.local()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Run gRPC's part of a call, which receives the request and calls the handler, once it is admitted."""
        call = QueuedCall(partial(fn, *args, **kwargs))
        with self._lock:
            self._waiting.append(call)
            self._admit()
        return call.done

    def received(self, size: int) -> QueuedCall:
        """Return the call that runs on this thread, once it may be computed; `size` is its request's in bytes."""
        call: QueuedCall = self._here.call
        call.receive(size)
        if call.large:
            self._one_large.acquire()
        else:
            with self._lock:
                self._free(call)
                self._admit()
        return call

    def _admit(self) -> None:
        for lane, take in enumerate((self._waiting.popleft, self._waiting.pop)):
            before = self._lanes[lane]
            if self._waiting and self._running < THREADS and (before is None or before.stalled):
                call = self._lanes[lane] = take()
                call.admit()
                self._running += 1
                super().submit(self._run, call)

    def _free(self, call: QueuedCall) -> None:
        self._lanes = [None if admitted is call else admitted for admitted in self._lanes]

    def _run(self, call: QueuedCall) -> None:
        self._here.call = call
        try:
            call.run()
        finally:
            if call.large:
                self._one_large.release()
            with self._lock:
                self._running -= 1
                self._free(call)
                self._admit()
