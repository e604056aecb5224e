"""The gRPC server of a function: Crossplane's FunctionRunnerService and the standard health service.

The function SDK's own `serve` was rejected: it runs everything on one event loop, where a slow composite delays all
other calls, has no health service, and cancels calls five seconds after the signal to stop. The SDK's credentials and
message definitions are used.
"""

import ctypes
import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import grpc  # type: ignore[import-untyped]
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as sdk
from crossplane.function.runtime import load_credentials
from google.protobuf.message import DecodeError

from modelplane.transport.admission import Admission, Received

#: Seconds that running calls have after the signal to stop: less than the 30 s that Kubernetes waits.
GRACE: Final = 25.0

#: M_MMAP_THRESHOLD: from 256 KiB on a block is a mapping of its own. M_ARENA_MAX: heaps beside the first.
_MALLOC: Final = ((-3, 256 * 1024), (-8, 1))
_STOP: Final = (signal.SIGTERM, signal.SIGINT)
#: The largest port number.
LAST_PORT: Final = 65_535
_RUNNER: Final = sdk.DESCRIPTOR.services_by_name["FunctionRunnerService"].full_name
_HEALTH: Final = "grpc.health.v1.Health"
#: HealthCheckResponse on the wire: field 1 (status) is 1 (SERVING) or 2 (NOT_SERVING).
_SERVING: Final = b"\x08\x01"
_NOT_SERVING: Final = b"\x08\x02"

#: Returns the serialized response to a request. The number is how long the call has waited, in seconds; a call of a
#: namespace that takes long calls the function, and ends if it returns False.
Answer = Callable[[Received, float, Callable[[str], bool]], bytes]


class ListenError(Exception):
    """The server cannot listen: the address or the certificates cannot be used. The text says which, and why."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where and how to listen. `certificates` is a folder with tls.crt, tls.key and ca.crt, None for no TLS.

    `max_receive` is the size of the largest request in bytes.
    """

    address: str
    certificates: str | None
    max_receive: int


def serve(answer: Answer, settings: Settings) -> None:
    """Serve `answer` until SIGTERM or SIGINT.

    Running calls are finished first, within the grace period. Raises ListenError.
    """
    collect_rarely()
    _return_memory()
    stopping = threading.Event()
    with Admission() as calls, ThreadPoolExecutor(1, "health") as probes:
        server = grpc.server(
            calls,
            handlers=(_runner(answer, calls), _health(stopping, probes)),
            options=[
                ("grpc.max_receive_message_length", settings.max_receive),
                # Keeps the window of a stream at 64 KiB; with bandwidth estimation it would grow to the whole request.
                ("grpc.http2.bdp_probe", 0),
                ("grpc.so_reuseport", 0),  # a second server on the port is an error, not half of the traffic
            ],
        )
        port = _listen(server, settings)
        server.start()
        with _signals() as stopped:
            structlog.get_logger().info("listening", port=port, mutual_tls=settings.certificates is not None)
            stopped.recv(1)
        stopping.set()
        structlog.get_logger().info("stopping: calls under way are finished")
        server.stop(GRACE).wait()


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """Yield a socket that becomes readable at the first signal to stop; later signals have no effect.

    Rejected: a handler that sets an Event. The signal may arrive in any of gRPC's threads, or just before the main
    thread blocks, which then keeps sleeping; and a second signal within the Event's own lock would deadlock.
    """
    stopped, stop = socket.socketpair()
    with stopped, stop:
        stop.settimeout(0)
        signal.set_wakeup_fd(stop.fileno(), warn_on_full_buffer=False)
        for number in _STOP:
            signal.signal(number, lambda *_: None)
        yield stopped
        for number in _STOP:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)


def collect_rarely() -> None:
    """Collect reference cycles less often: objects are trees, and those of a large fleet are a million containers.

    With Python's defaults the collector traverses all of them again and again during parsing, which takes as long as
    the parsing itself.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 10)


def _return_memory() -> None:
    """Make glibc return large blocks as soon as they are freed, and keep one heap for small ones.

    By default it adapts to the first large request and keeps such blocks, in one heap for each thread: a third more
    memory stays resident after a hundred of them. Other C libraries do not have or need this setting.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, value in _MALLOC:
            library.mallopt(option, value)


def _runner(answer: Answer, calls: Admission) -> grpc.GenericRpcHandler:
    """Return the function's service, from bytes to bytes."""

    def run_function(received: Received, context: grpc.ServicerContext) -> bytes:
        call = calls.received(received.size)
        if not context.is_active():
            return b""  # the caller has cancelled the call and reads no answer
        try:
            return answer(received, call.waited, calls.turn)
        except DecodeError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"not a RunFunctionRequest: {error}")
            raise

    return _service(_RUNNER, "RunFunction", run_function, Received)


def _health(stopping: threading.Event, probes: ThreadPoolExecutor) -> grpc.GenericRpcHandler:
    """Return the health service, for the server as a whole, because it runs one function only."""

    def check(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        return _NOT_SERVING if stopping.is_set() else _SERVING

    # It has a thread of its own, to answer however many calls wait. gRPC has no other way to configure that.
    check.experimental_thread_pool = probes  # type: ignore[attr-defined]
    return _service(_HEALTH, "Check", check)


def _service(
    name: str,
    method: str,
    behavior: Callable[[Any, grpc.ServicerContext], bytes],
    deserialize: Callable[[bytes], Any] | None = None,
) -> grpc.GenericRpcHandler:
    handler = grpc.unary_unary_rpc_method_handler(behavior, request_deserializer=deserialize)
    return grpc.method_handlers_generic_handler(name, {method: handler})


def _listen(server: grpc.Server, settings: Settings) -> int:
    port = settings.address.rpartition(":")[2]
    if port.isdecimal() and int(port) > LAST_PORT:  # gRPC would silently listen on the remainder by 65,536
        raise ListenError(f"cannot listen on {settings.address}: ports end at {LAST_PORT}")
    try:
        if settings.certificates is None:
            return int(server.add_insecure_port(settings.address))
        return int(server.add_secure_port(settings.address, load_credentials(settings.certificates)))
    except OSError as error:
        raise ListenError(f"certificates: {error.filename}: {error.strerror}") from error
    except RuntimeError as error:
        raise ListenError(f"cannot listen on {settings.address}: {error}") from error
