"""What the selectors of a request say about a device, and which of them do not compile."""

from dataclasses import dataclass

from modelplane import cel
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Device
from modelplane.model.placement import BadSelector


@dataclass(frozen=True, slots=True)
class SelectorsVerdict:
    """The outcome for one device; `selector` is the index of the one that decided against it, `why` its error."""

    outcome: cel.Outcome
    selector: int = 0
    why: str = ""


def evaluate(selectors: tuple[str, ...], device: Device) -> SelectorsVerdict:
    """Return what the selectors, tried in order, say about the device: the first that does not match stops."""
    for index, text in enumerate(selectors):
        verdict = cel.verdict(text, device)
        if verdict.outcome is not cel.Outcome.MATCH:
            return SelectorsVerdict(verdict.outcome, index, verdict.why or "")
    return SelectorsVerdict(cel.Outcome.MATCH)


def matches(selectors: tuple[str, ...], device: Device) -> bool:
    """Tell whether all selectors match the device."""
    return evaluate(selectors, device).outcome is cel.Outcome.MATCH


def bad_selectors(deployment: Deployment) -> tuple[BadSelector, ...]:
    """Return every selector that does not compile, in the order in which the deployment states them."""
    found: dict[BadSelector, None] = {}
    members = ((p, engine, member) for p in deployment.profiles for engine in p.engines for member in engine.members)
    for profile, engine, member in members:
        for request in member.requests:
            for index, text in enumerate(request.selectors):
                compiled = cel.compiled(text)
                if isinstance(compiled, cel.SelectorError):
                    where = engine.name, request.name, index, compiled.line, compiled.column
                    found.setdefault(BadSelector(*where, compiled.why, profile.name))
    return tuple(found)
