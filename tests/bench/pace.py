"""The pace of this machine, now: how long a fixed piece of work takes, over what it took where limits were set.

Limits in seconds are those of a quiet two-core machine. Another one may have slower cores, or share them, and then
takes longer for everything: what is judged is what a figure takes over what this work takes beside it. It is of the
kind that functions do (objects are parsed, walked, compared and written), and none of their code. It is timed by both
clocks: a machine that gives a part of its cores to others takes longer for what is waited for, and no more processor
time.
"""

import json
import statistics
import time
from dataclasses import dataclass
from typing import Any, Final

#: Milliseconds that the work takes on the quiet machine.
QUIET: Final = 10.0
_TIMES: Final = 9
_OBJECTS: Final = 320


def _object(number: int) -> dict[str, Any]:
    labels = {f"key-{at}.example.com/name": f"value-{number * at % 97}" for at in range(8)}
    entries = [{"name": f"entry-{at}", "values": {"text": str(number), "list": [at, None, True]}} for at in range(5)]
    return {"metadata": {"name": f"object-{number}", "labels": labels}, "spec": {"entries": entries, "text": "x" * 200}}


@dataclass(frozen=True, slots=True)
class Pace:
    """Times of the work over those of the quiet machine, 1 on one that is faster: until it is done, of a processor."""

    waited: float
    processor: float


_TEXT: Final = json.dumps([_object(number) for number in range(_OBJECTS)])


def _walk(value: object) -> int:
    if isinstance(value, dict):
        return sum(len(key) + _walk(each) for key, each in value.items())
    return sum(map(_walk, value)) if isinstance(value, list) else 1


def _work() -> int:
    objects = json.loads(_TEXT)
    found = sorted(objects, key=lambda each: (sorted(each["metadata"]["labels"].values()), each["metadata"]["name"]))
    return _walk(found) + len(json.dumps(found, sort_keys=True))


def pace() -> Pace:
    """Return the pace of this machine: medians of the work, made a few times."""
    waited, processor = [], []
    for _ in range(_TIMES):
        began, used = time.perf_counter(), time.process_time()
        _work()
        waited.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    return Pace(*(max(1.0, statistics.median(spent) * 1e3 / QUIET) for spent in (waited, processor)))
