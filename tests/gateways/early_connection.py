"""Sends a chat, waits for a line of its input, and sends another on the same connection: `python -m ... URL`.

It prints the status of each.
"""

import sys

from modelplane_dev.plane.gateways.requests import Caller


def main(url: str) -> None:
    """Send the two requests."""
    caller = Caller(url)
    for _ in range(2):
        status, _ = caller.chat()
        print(status, flush=True)  # noqa: T201 - it is what the test reads
        sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
