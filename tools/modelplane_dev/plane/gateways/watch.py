"""Sends one chat after the other until its input ends: `python -m ... URL [MODEL]`. Then it prints JSON.

That is a list of [status, count]: how many answers in a row had a status, or what stands for one (`requests`). A line
is printed before it, once the first answer has come, and the last request is sent after the end of the input.
"""

import json
import sys
import threading
import time

from modelplane_dev.plane.gateways.requests import MODEL, Caller

#: The line that is printed once the first answer has come.
BEGUN = "begun"
#: Seconds between two requests.
_PAUSE = 0.01


def main(url: str, model: str = MODEL) -> None:
    """Send requests, and print the statuses of the responses."""
    reading = threading.Thread(target=sys.stdin.read, daemon=True)
    reading.start()
    caller = Caller(url, model)
    found = [[caller.chat()[0], 1]]
    print(BEGUN, flush=True)
    ended = False
    while not ended:
        time.sleep(_PAUSE)
        ended = not reading.is_alive()
        status, _ = caller.chat()
        if found[-1][0] != status:
            found.append([status, 0])
        found[-1][1] += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
