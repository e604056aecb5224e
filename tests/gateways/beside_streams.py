"""Streams of other callers beside one odd request: `python -m ... STREAMS HOST PATH [MODEL]`, which prints JSON.

It opens so many streamed chats at HOST and PATH, sends lines of its input as requests on connections of their own, and
prints how many streams ended whole, and the beginning of each answer. Each line is JSON, the text of a request and
whether it is finished: one that is not is broken off after a while, and has no answer.
"""

import json
import socket
import sys
import time

from modelplane_dev.plane.gateways.requests import MODEL

#: Seconds between the words of a stream.
PAUSE = 0.5
_PATIENCE = 60.0


def _send(host: str, text: str) -> socket.socket:
    connection = socket.create_connection((host, 80), timeout=_PATIENCE)
    connection.sendall(text.encode())
    return connection


def _stream(host: str, path: str, model: str) -> socket.socket:
    """Begin a stream; return its connection once the first bytes of the answer have come."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}], "stream": True})
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"X-Pauses: {','.join([str(PAUSE)] * 5)}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    connection = _send(host, "\r\n".join((*lines, "", body)))
    assert connection.recv(1, socket.MSG_PEEK)
    return connection


def _rest(connection: socket.socket) -> bytes:
    """Return all that still comes on a connection."""
    found = b""
    with connection:
        while part := connection.recv(65536):
            found += part
    return found


def _answer(host: str, text: str, finished: bool) -> str:
    with _send(host, text) as connection:
        if finished:
            return connection.recv(65536).decode(errors="replace")
        time.sleep(PAUSE)
        return ""


def main(count: str, host: str, path: str, model: str = MODEL) -> None:
    """Open the streams, send the odd requests meanwhile, and print what became of all."""
    streams = [_stream(host, path, model) for _ in range(int(count))]
    answers = [_answer(host, *json.loads(line)) for line in sys.stdin]
    whole = sum(b"data: [DONE]" in _rest(stream) for stream in streams)
    sys.stdout.write(json.dumps({"whole": whole, "answers": answers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
