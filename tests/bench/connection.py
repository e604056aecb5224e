"""Many calls at once on one HTTP/2 connection, as Crossplane makes them, in the memory of one request.

gRPC's own client copies every request that it is given, a hundred of 20 MiB at once. This one sends what the requests
have in common from one buffer. It knows of HTTP/2 what a gRPC server on loopback asks for: flow control, and no more.
"""

import contextlib
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Self

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _WINDOW = 0, 1, 3, 4, 6, 8
_END_STREAM, _ACK, _END_HEADERS = 1, 1, 4
_INITIAL_WINDOW, _FRAME = 4, 16_384
_LARGEST_WINDOW = 2**31 - 1
_METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"


class CallError(Exception):
    """A call ended without a response."""


@dataclass(slots=True)
class Answer:
    """A response, and how long the caller waited for it, in seconds."""

    wire: bytes
    seconds: float


@dataclass(slots=True)
class _Stream:
    parts: deque[memoryview]
    window: int
    done: "Future[Answer]" = field(default_factory=Future)
    received: bytearray = field(default_factory=bytearray)
    began: float = field(default_factory=time.perf_counter)


def _head(kind: int, flags: int, stream: int, length: int) -> bytes:
    return struct.pack(">I", length)[1:] + struct.pack(">BBI", kind, flags, stream)


def _frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return _head(kind, flags, stream, len(content)) + content


def _headers(authority: str) -> bytes:
    """Return the headers of a call, each a literal without an index (RFC 7541, 6.2.2)."""
    rows = {
        ":method": "POST",
        ":scheme": "http",
        ":path": _METHOD,
        ":authority": authority,
        "content-type": "application/grpc",
        "te": "trailers",
        "grpc-timeout": "120S",  # what Crossplane gives a reconcile
    }
    return b"".join(b"\0" + bytes([len(k)]) + k.encode() + bytes([len(v)]) + v.encode() for k, v in rows.items())


class Connection:
    """A connection to a gRPC server that serves a function without TLS, for use in a `with` statement."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._block = _headers(address)
        self._changed = threading.Condition()
        self._streams: dict[int, _Stream] = {}
        self._window, self._initial, self._next = 65_535, 65_535, 1
        self._control = deque([_PREFACE + _frame(_SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW, 1 << 30))])
        self._control.append(_frame(_WINDOW, 0, 0, struct.pack(">I", _LARGEST_WINDOW - 65_535)))
        self._open = True
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._write)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._open = False
            self._changed.notify_all()
        with contextlib.suppress(OSError):  # the server has ended it
            self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def call(self, parts: Sequence[bytes]) -> "Future[Answer]":
        """Begin a call; the request is the parts one after the other. The future fails with CallError."""
        length = sum(map(len, parts))
        with self._changed:
            number, self._next = self._next, self._next + 2
            pieces = deque(memoryview(part) for part in (struct.pack(">BI", 0, length), *parts) if part)
            stream = self._streams[number] = _Stream(pieces, self._initial)
            self._control.append(_frame(_HEADERS, _END_HEADERS, number, self._block))
            self._changed.notify_all()
        return stream.done

    def _write(self) -> None:
        # What is to be sent yet when the connection ends, such as an answer to a ping, goes nowhere.
        with contextlib.suppress(OSError):
            while frames := self._next_frames():
                for frame in frames:
                    self._socket.sendall(frame)

    def _next_frames(self) -> list[bytes | memoryview]:
        """Wait for frames that may be sent; return none once the connection is closed."""
        with self._changed:
            while self._open and not (frames := list(self._sendable())):
                self._changed.wait()
            return frames if self._open else []

    def _sendable(self) -> Iterator[bytes | memoryview]:
        """Yield control frames, and of each stream the next frame that the windows allow."""
        while self._control:
            yield self._control.popleft()
        for number, stream in self._streams.items():
            size = min(_FRAME, self._window, stream.window)
            if size <= 0 or not stream.parts:
                continue
            piece = stream.parts.popleft()
            if len(piece) > size:
                stream.parts.appendleft(piece[size:])
                piece = piece[:size]
            stream.window -= len(piece)
            self._window -= len(piece)
            yield _head(_DATA, 0 if stream.parts else _END_STREAM, number, len(piece))
            yield piece

    def _read(self) -> None:
        with contextlib.suppress(OSError), self._socket.makefile("rb") as incoming:
            while len(head := incoming.read(9)) == 9:
                length = int.from_bytes(head[:3], "big")
                kind, flags, number = struct.unpack(">BBI", head[3:])
                content = incoming.read(length)
                with self._changed:
                    self._handle(kind, flags, number, content)
                    self._changed.notify_all()
        with self._changed:
            for stream in self._streams.values():
                stream.done.set_exception(CallError("the connection ended"))
            self._streams.clear()

    def _handle(self, kind: int, flags: int, number: int, content: bytes) -> None:
        stream = self._streams.get(number)
        if kind == _SETTINGS and not flags & _ACK:
            self._resize(content)
            self._control.append(_frame(_SETTINGS, _ACK, 0))
        elif kind == _PING and not flags & _ACK:
            self._control.append(_frame(_PING, _ACK, 0, content))
        elif kind == _WINDOW and number == 0:
            self._window += int.from_bytes(content, "big")
        elif stream and kind == _WINDOW:
            stream.window += int.from_bytes(content, "big")
        elif stream and kind == _DATA:
            stream.received += content
        elif stream and kind == _RESET:
            self._streams.pop(number).done.set_exception(CallError(f"reset, code {int.from_bytes(content, 'big')}"))
        if stream and kind in {_DATA, _HEADERS} and flags & _END_STREAM:
            self._finish(self._streams.pop(number))

    def _resize(self, settings: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", settings):
            if name == _INITIAL_WINDOW:
                for stream in self._streams.values():
                    stream.window += value - self._initial
                self._initial = value

    def _finish(self, stream: _Stream) -> None:
        """Give the response to the caller; a call that failed has headers and no message."""
        if len(stream.received) < 5:
            stream.done.set_exception(CallError("no response; the server's status says why"))
            return
        stream.done.set_result(Answer(bytes(stream.received[5:]), time.perf_counter() - stream.began))
