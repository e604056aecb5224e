"""Remembers compiled selectors and verdicts, across calls and threads, within bounds.

A verdict depends on the text and the device's content alone, so twenty classes over a thousand clusters cost sixty
evaluations. Hashing a device costs more than all the rest of a warm call, so in front of the memory by content there
is one by the identity of the device object.
"""

import threading
from functools import lru_cache
from itertools import islice

from modelplane.cel.selector import Selector, compile  # noqa: A004 (the name of what it does)
from modelplane.cel.verdict import Outcome, SelectorError, Verdict
from modelplane.model.fleet import Device

_SELECTORS = 1024
_VERDICTS = 65536

#: (text, id of a device) to the device, which keeps the id its own, and the verdict.
_seen: dict[tuple[str, int], tuple[Device, Verdict]] = {}
_lock = threading.Lock()


@lru_cache(maxsize=_SELECTORS)
def compiled(text: str) -> Selector | SelectorError:
    """Return the selector of a text, or why it does not compile."""
    try:
        return compile(text)
    except SelectorError as error:
        return error.with_traceback(None)


def verdict(text: str, device: Device) -> Verdict:
    """Return what a selector says about a device; ERROR also for a selector that does not compile."""
    key = (text, id(device))
    found = _seen.get(key)
    if found is not None and found[0] is device:
        return found[1]
    fresh = _by_content(text, device)
    with _lock:
        if len(_seen) >= _VERDICTS:
            # The oldest eighth goes: cheaper than keeping order on every hit, and the memory by content still knows.
            for old in list(islice(_seen, _VERDICTS // 8)):
                del _seen[old]
        _seen[key] = (device, fresh)
    return fresh


@lru_cache(maxsize=_VERDICTS)
def _by_content(text: str, device: Device) -> Verdict:
    selector = compiled(text)
    if isinstance(selector, SelectorError):
        return Verdict(Outcome.ERROR, f"selector does not compile: {selector}")
    return selector.evaluate(device)
