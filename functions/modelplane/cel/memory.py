"""Caches compiled selectors and verdicts, across calls and threads, within bounds of weight.

A verdict depends on the text and the device's content alone, so twenty classes over a thousand clusters cost sixty
evaluations. Hashing a device costs more than all the rest of a warm call, so in front of the memory by content there
is one by the identity of the device object.
"""

from typing import Final

from modelplane.cel.selector import Selector, compile  # noqa: A004 (the name of what it does)
from modelplane.cel.verdict import Outcome, SelectorError, Verdict
from modelplane.lru import Identity, Lru, weigh
from modelplane.model.fleet import Device

_MIB: Final = 1024 * 1024
#: Bytes of compiled code for a character of a selector, at most (measured: 35 to 80 for selectors of usual length).
_CODE: Final = 128
_SELECTORS: Final = Lru[Selector | SelectorError](16 * _MIB)
_VERDICTS: Final = Lru[Verdict](32 * _MIB)
#: Verdicts by text and identity of the device.
_SEEN: Final = Lru[Verdict](8 * _MIB)


def compiled(text: str) -> Selector | SelectorError:
    """Return the selector of a text, or why it does not compile."""
    return _SELECTORS.get(text, lambda: (_compile(text), _CODE * len(text)))


def _compile(text: str) -> Selector | SelectorError:
    try:
        return compile(text)
    except SelectorError as error:
        # A new one: what was raised holds on to frames, its own and those of what it was raised from.
        return SelectorError(error.line, error.column, error.why)


def verdict(text: str, device: Device) -> Verdict:
    """Return what a selector says about a device; ERROR also for a selector that does not compile."""
    return _SEEN.get((text, Identity(device)), lambda: (_by_content(text, device), weigh((text, device))))


def _by_content(text: str, device: Device) -> Verdict:
    def make() -> tuple[Verdict, int]:
        found = _evaluate(text, device)
        return found, weigh((text, device, found))

    return _VERDICTS.get((text, device), make)


def _evaluate(text: str, device: Device) -> Verdict:
    selector = compiled(text)
    if isinstance(selector, SelectorError):
        return Verdict(Outcome.ERROR, f"selector does not compile: {selector}")
    return selector.evaluate(device)
