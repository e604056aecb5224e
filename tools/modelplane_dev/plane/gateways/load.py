"""Sends chats to a service and counts the answers: `python -m ... URL REQUESTS WORKERS LENGTH [FIRST]`.

It prints the counts as JSON: of answers by status, or what stands for one (`requests`), and by the engine that
answered. A prompt has as many characters as LENGTH says.

With FIRST it sends chats before them, until its input ends, and prints a line once so many of these are answered. The
JSON is a list then: the counts until the end of the input, and those after it.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from modelplane_dev.plane.gateways.requests import Caller

#: The line that is printed once so many answers have come.
BEGUN = "begun"


def _some(caller: Caller, until: Iterable[object], answered: Callable[[], object] = lambda: None) -> Counter[str]:
    """Return the counts of a request for each item, one after the other."""
    found: Counter[str] = Counter()
    for _ in until:
        status, engine = caller.chat()
        found[str(status)] += 1
        if engine:
            found[engine] += 1
        answered()
    return found


def _until_told(pool: ThreadPoolExecutor, callers: list[Caller], first: int) -> Counter[str]:
    """Return the counts of requests that are sent until the input ends; say when `first` of them are answered."""
    reading = threading.Thread(target=sys.stdin.read, daemon=True)
    reading.start()
    answers = threading.Semaphore(0)
    counts = [pool.submit(_some, each, _while_alive(reading), answers.release) for each in callers]
    for _ in range(first):
        answers.acquire()
    print(BEGUN, flush=True)
    return sum((each.result() for each in counts), Counter())


def _while_alive(thread: threading.Thread) -> Iterator[None]:
    while thread.is_alive():
        yield


def main(url: str, requests: str, workers: str, length: str, first: str = "0") -> None:
    """Send the requests, and print the counts."""
    callers = [Caller(url, prompt="x" * int(length)) for _ in range(int(workers))]
    each = int(requests) // len(callers)
    with ThreadPoolExecutor(len(callers)) as pool:
        before = [_until_told(pool, callers, int(first))] if int(first) else []
        counts = sum(pool.map(lambda caller: _some(caller, range(each)), callers), Counter())
    print(json.dumps([*before, counts] if before else counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
