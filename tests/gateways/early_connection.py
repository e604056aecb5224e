"""Sends a request, waits for a line of its input, and sends another on the same connection: `python -m ... URL`.

It prints the status of each. The other request is a chat, or with an origin as second argument the question of a
browser whether a page from there may call. The first one has no body: where Envoy answers before it has read all of a
request, it closes the connection.
"""

import contextlib
import http.client
import sys
import urllib.parse

from modelplane_dev.plane.gateways.requests import PATIENCE, body_of


def main(url: str, origin: str = "") -> None:
    """Send the two requests."""
    parts = urllib.parse.urlsplit(f"{url}/v1/chat/completions")
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.connect()
    # A connection that is closed is not made anew.
    connection.auto_open = 0
    question = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    chat = ("POST", parts.path, body_of(), {"Content-Type": "application/json"})
    for asked in (("GET", parts.path), ("OPTIONS", parts.path, None, question) if origin else chat):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # answered before it is sent
            connection.request(*asked)
        answer = connection.getresponse()
        answer.read()
        print(answer.status, flush=True)  # noqa: T201 - it is what the test reads
        sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
