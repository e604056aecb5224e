"""What the selectors of a request say about a device, remembered by content."""

from dataclasses import dataclass
from functools import lru_cache

from modelplane import cel
from modelplane.model.fleet import Device

CACHE_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome for one device; `selector` is the index of the one that decided against it, `why` its error."""

    outcome: cel.Outcome
    selector: int = 0
    why: str = ""


@lru_cache(maxsize=CACHE_SIZE)
def judge(selectors: tuple[str, ...], device: Device) -> Judgement:
    """Return what the selectors, tried in order, say about the device: the first that does not match stops."""
    for index, text in enumerate(selectors):
        verdict = cel.verdict(text, device)
        if verdict.outcome is not cel.Outcome.MATCH:
            return Judgement(verdict.outcome, index, verdict.why or "")
    return Judgement(cel.Outcome.MATCH)


def matches(selectors: tuple[str, ...], device: Device) -> bool:
    """Tell whether all selectors match the device."""
    return judge(selectors, device).outcome is cel.Outcome.MATCH
