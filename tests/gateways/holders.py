"""Connections without a key that send as much as they can: `python -m ... ADDRESS` with what they send as its input.

Each line is JSON: how many connections send which head, and how many bytes behind it. It prints a line once no more is
taken, keeps all connections until its input ends, and prints how many were answered with which status.
"""

import json
import selectors
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import Any, Final

#: Printed once nothing more is taken.
HELD: Final = "held"
#: Seconds without a byte that is taken, after which no more will be.
_REST: Final = 1.0
_CHUNK: Final = 64 * 1024
_FILL: Final = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"


def _open(address: str, kind: dict[str, Any]) -> tuple[socket.socket, bytearray]:
    """Return a connection and what it has to send."""
    found = socket.create_connection((address, 80), timeout=30)
    found.setblocking(False)  # noqa: FBT003 - as the socket's own
    size = int(kind["bytes"])
    body = _FILL * (size // len(_FILL)) if "chunked" in kind["head"] else b"x" * size
    return found, bytearray(kind["head"].encode() + body)


def main(address: str) -> None:
    """Hold the connections."""
    lines = iter(sys.stdin.readline, "\n")
    waiting = [_open(address, kind) for kind in map(json.loads, lines) for _ in range(kind["count"])]
    connections = [found for found, _ in waiting]
    selector = selectors.DefaultSelector()
    for found, rest in waiting:
        selector.register(found, selectors.EVENT_WRITE, rest)
    last = time.monotonic()
    while selector.get_map() and time.monotonic() - last < _REST:
        for key, _ in selector.select(0.1):
            with suppress(BlockingIOError):
                if not _send(key.fileobj, key.data):
                    selector.unregister(key.fileobj)
                last = time.monotonic()
    sys.stdout.write(f"{HELD}\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(json.dumps(Counter(map(_status, connections))))


def _send(connection: Any, rest: bytearray) -> bool:
    """Send a part of the rest; return whether there is more to send, and the connection is there."""
    try:
        del rest[: int(connection.send(rest[:_CHUNK]))]
    except ConnectionError:
        return False
    return bool(rest)


def _status(connection: socket.socket) -> str:
    try:
        return connection.recv(_CHUNK).decode().split()[1]
    except BlockingIOError:
        return "none"
    except (OSError, IndexError):
        return "closed"


if __name__ == "__main__":
    main(*sys.argv[1:])
