"""The pace of this machine, now: how long a fixed piece of work takes, over what it took where limits were set.

Limits in seconds are those of a quiet two-core machine. Another one may have slower cores, or share them, and then
takes longer for everything: what is judged is what a figure takes over what this work takes beside it. It is of the
kind that functions do (objects are parsed, walked, compared and written), and none of their code. Its processor time
counts: what waits for a core is disturbed, and measured again.
"""

import json
import statistics
import time
from typing import Any, Final

#: Milliseconds that the work takes on the quiet machine.
QUIET: Final = 10.0
_TIMES: Final = 9
_OBJECTS: Final = 320


def _object(number: int) -> dict[str, Any]:
    labels = {f"key-{at}.example.com/name": f"value-{number * at % 97}" for at in range(8)}
    entries = [{"name": f"entry-{at}", "values": {"text": str(number), "list": [at, None, True]}} for at in range(5)]
    return {"metadata": {"name": f"object-{number}", "labels": labels}, "spec": {"entries": entries, "text": "x" * 200}}


_TEXT: Final = json.dumps([_object(number) for number in range(_OBJECTS)])


def _walk(value: object) -> int:
    if isinstance(value, dict):
        return sum(len(key) + _walk(each) for key, each in value.items())
    return sum(map(_walk, value)) if isinstance(value, list) else 1


def _work() -> int:
    objects = json.loads(_TEXT)
    found = sorted(objects, key=lambda each: (sorted(each["metadata"]["labels"].values()), each["metadata"]["name"]))
    return _walk(found) + len(json.dumps(found, sort_keys=True))


def milliseconds() -> float:
    """Return the median processor time of the work, in milliseconds."""
    spent = []
    for _ in range(_TIMES):
        began = time.process_time()
        _work()
        spent.append(time.process_time() - began)
    return statistics.median(spent) * 1e3


def pace() -> float:
    """Return the time of the work over that of the quiet machine; 1 on one that is faster."""
    return max(1.0, milliseconds() / QUIET)
