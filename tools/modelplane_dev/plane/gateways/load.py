"""Sends chats to a service and counts the answers: `python -m ... URL REQUESTS WORKERS LENGTH`, which prints JSON.

It counts the answers by status, or what stands for one (`requests`), and by the engine that answered. A prompt has as
many characters as LENGTH says.
"""

import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from modelplane_dev.plane.gateways.requests import Caller


def _some(url: str, requests: int, length: int) -> Counter[str]:
    """Return the counts of so many requests, one after the other."""
    found: Counter[str] = Counter()
    caller = Caller(url, prompt="x" * length)
    for _ in range(requests):
        status, engine = caller.chat()
        found[str(status)] += 1
        if engine:
            found[engine] += 1
    return found


def main(url: str, requests: str, workers: str, length: str) -> None:
    """Send the requests, and print the counts."""
    each = int(requests) // int(workers)
    with ThreadPoolExecutor(int(workers)) as pool:
        counts = pool.map(lambda _: _some(url, each, int(length)), range(int(workers)))
        print(json.dumps(sum(counts, Counter())))


if __name__ == "__main__":
    main(*sys.argv[1:])
