"""Caches compiled selectors and verdicts, across calls and threads, bounded by weight.

A verdict depends on the text and on what the selector reads of the device, which is the key of the cache: twenty
classes over a thousand clusters cost sixty evaluations, whatever else their devices declare. Hashing a device costs
more than the rest of a cached call, so a cache by the identity of the device object precedes the one by content.
"""

from collections.abc import Iterable
from typing import Final

from modelplane.cel.devices import Subject, weigh_device
from modelplane.cel.reads import Name, Reads, seen
from modelplane.cel.selector import Selector, compile  # noqa: A004 (the name of what it does)
from modelplane.cel.verdict import Outcome, SelectorError, Verdict
from modelplane.lru import Identity, Lru, weigh
from modelplane.model.fleet import Device

_MIB: Final = 1024 * 1024
#: Bytes of compiled code for a character of a selector, at most (measured: 35 to 80 for selectors of usual length).
_CODE: Final = 128
_SELECTORS: Final = Lru[Selector | SelectorError](16 * _MIB)
_VERDICTS: Final = Lru[Verdict](16 * _MIB)
#: Verdicts by text and identity of the device.
_SEEN: Final = Lru[Verdict](8 * _MIB)
#: Devices prepared for evaluation, by identity; and the bytes of one without the device itself.
_SUBJECTS: Final = Lru[Subject](2 * _MIB)
_SUBJECT: Final = 2048


def compiled(text: str) -> Selector | SelectorError:
    """Return the selector of a text, or why it does not compile."""
    return _SELECTORS.get(text, lambda: (_compile(text), _CODE * len(text)))


def _compile(text: str) -> Selector | SelectorError:
    try:
        return compile(text)
    except SelectorError as error:
        # A new error: the one that was raised keeps frames alive, and those of its cause.
        return SelectorError(error.line, error.column, error.why)


def verdict(text: str, device: Device) -> Verdict:
    """Return what a selector says about a device; ERROR also for a selector that does not compile."""
    return _SEEN.get((text, Identity(device)), lambda: (_by_content(text, device), weigh(text) + weigh_device(device)))


def subject(device: Device) -> Subject:
    """Return a device prepared for evaluations, cached for many selectors."""
    return _SUBJECTS.get(Identity(device), lambda: (Subject(device), _SUBJECT + 3 * weigh_device(device)))


def measure(selector: Selector | SelectorError, of: Subject) -> tuple[Verdict, int]:
    """Return what a selector says about a device, evaluated now, and the work that it took."""
    if isinstance(selector, SelectorError):
        return Verdict(Outcome.ERROR, f"selector does not compile: {selector}"), 0
    return selector.measure(of)


def reads(texts: Iterable[str]) -> Reads:
    """Return what selectors read of a device; a selector that does not compile reads nothing."""
    found: set[Name] = set()
    for text in texts:
        selector = compiled(text)
        if isinstance(selector, Selector):
            if selector.reads is None:
                return None
            found |= selector.reads
    return frozenset(found)


def _by_content(text: str, device: Device) -> Verdict:
    reduced = seen(device, reads([text]))

    def make() -> tuple[Verdict, int]:
        found = measure(compiled(text), Subject(reduced))[0]
        return found, weigh((text, found)) + weigh_device(reduced)

    return _VERDICTS.get((text, reduced), make)
