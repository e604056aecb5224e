"""Measures chats: `python -m ... REQUESTS WORKERS URL MODEL [KEY]`, which prints p50 and p99 in ms as JSON."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from modelplane_dev.plane.gateways.requests import Caller


def _times(caller: Caller, requests: int) -> list[float]:
    """Return the seconds of each of some requests, one after the other; the first, which connects, is left out."""
    found = []
    for _ in range(requests + 1):
        started = time.perf_counter()
        status, _ = caller.chat()
        found.append(time.perf_counter() - started)
        assert status == HTTPStatus.OK, status
    return found[1:]


def main(requests: str, workers: str, url: str, model: str, key: str = "") -> None:
    """Send the requests, divided among the workers."""
    callers = [Caller(url, model, key=key) for _ in range(int(workers))]
    each = int(requests) // len(callers)
    with ThreadPoolExecutor(len(callers)) as pool:
        found = sorted(t for times in pool.map(lambda caller: _times(caller, each), callers) for t in times)
    p50, p99 = (found[int(len(found) * share)] * 1000 for share in (0.5, 0.99))
    sys.stdout.write(json.dumps([p50, p99]))


if __name__ == "__main__":
    main(*sys.argv[1:])
