"""What the selectors of a request say about a device, and which of them do not compile."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Final

from modelplane import cel
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Device
from modelplane.model.placement import BadSelector
from modelplane.model.refusal import SearchBound
from modelplane.scheduling.matching.closest import shown
from modelplane.scheduling.pools import Hardware, seen_by
from modelplane.scheduling.search_budget import Meter, SearchBudget, Searches, states_of

#: Most states for evaluating a request's selectors on the devices of a class when a pod is charged with them. Every
#: pass that reads the pool spends them, not only the passes of the deployment that has the selectors.
CHARGED_STATES: Final = 500
_MATCH: Final = cel.Outcome.MATCH


@dataclass(frozen=True, slots=True)
class SelectorsVerdict:
    """The outcome for one device; `selector` is the index of the selector that did not match, `why` its error.

    `states` is the work of the evaluation.
    """

    outcome: cel.Outcome
    selector: int = 0
    why: str = ""
    states: int = 0


def evaluate(selectors: tuple[str, ...], device: Device) -> SelectorsVerdict:
    """Return what the selectors say about the device; they are tried in order up to the first that does not match."""
    for index, text in enumerate(selectors):
        verdict = cel.verdict(text, device)
        if verdict.outcome is not cel.Outcome.MATCH:
            return SelectorsVerdict(verdict.outcome, index, verdict.why or "")
    return SelectorsVerdict(cel.Outcome.MATCH)


Verdicts = tuple[SelectorsVerdict, ...]
_Key = tuple[tuple[str, ...], Hardware]
_Compiled = cel.Selector | cel.SelectorError


def _weigh(key: _Key, found: Verdicts | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: texts, errors, and devices that may be referenced only here."""
    selectors, hardware = key
    errors = 0 if isinstance(found, SearchBound) else sum([96 + getsizeof(verdict.why) for verdict in found])
    return 512 + hardware.weight + sum([8 + getsizeof(text) for text in selectors]) + errors


VERDICTS: Searches[_Key, Verdicts] = Searches(16 * 1024 * 1024, _weigh)


class PassVerdicts:
    """The verdicts of one pass; each evaluation is charged to the pass's budget.

    A selector is evaluated once for all devices that are equal in what it reads.
    """

    def __init__(self, budget: SearchBudget) -> None:
        self._budget = budget
        self._reads: dict[tuple[str, ...], cel.Reads] = {}
        #: Hardware narrowed in this pass; the second part of a key is the identity of the reads, which are interned.
        self._narrowed: dict[tuple[Hardware, int, Hashable], Hardware] = {}
        self._one_of: dict[cel.Reads, cel.Reads] = {}
        self._compiled: dict[tuple[str, ...], tuple[_Compiled, ...]] = {}

    def on(self, selectors: tuple[str, ...], hardware: Hardware) -> Verdicts | SearchBound:
        """Return the verdicts of a request's selectors on each device entry."""
        reads = self._reads_of(selectors)
        key = selectors, self._narrow(hardware, reads, "seen", lambda device: cel.seen(device, reads))
        return VERDICTS.find(
            key, self._budget, lambda meter: tuple(_measure(self._compiled_of(selectors), key[1], meter))
        )

    def read(self, selectors: tuple[str, ...], hardware: Hardware, most: int) -> Hardware:
        """Return the hardware reduced to what selectors read, the devices' classes, and at most `most` of each entry.

        More devices of an entry than a pod asks for in total make no difference.
        """
        reads, most = self._reads_of(selectors), min(most, max(hardware.counts, default=0))

        def see(device: Device) -> Device:
            only = cel.narrowed(device, lambda name: reads is None or name in reads)
            # A device with problems is an error by itself, and the error names it.
            return replace(only, name=device.name if only is device else "", count=min(only.count, most))

        return self._narrow(hardware, reads, ("read", most), see)

    def shown(self, selectors: tuple[str, ...], hardware: Hardware) -> Hardware:
        """Return the hardware reduced to what selectors read and a refusal shows."""
        reads = self._reads_of(selectors)
        if reads is None:
            return hardware
        return self._narrow(
            hardware, reads, "shown", lambda each: cel.narrowed(each, lambda name: name in reads or shown(name))
        )

    def _narrow(
        self, hardware: Hardware, reads: cel.Reads, what: Hashable, see: Callable[[Device], Device]
    ) -> Hardware:
        """Return the hardware with each device reduced by `see`, which `what` and the reads identify in the cache."""
        key = hardware, id(reads), what
        found = self._narrowed.get(key)
        if found is None:
            found = self._narrowed[key] = seen_by(hardware, see, (what, reads))
        return found

    def _reads_of(self, selectors: tuple[str, ...]) -> cel.Reads:
        if selectors not in self._reads:
            found = cel.reads(selectors)
            self._reads[selectors] = self._one_of.setdefault(found, found)
        return self._reads[selectors]

    def _compiled_of(self, selectors: tuple[str, ...]) -> tuple[_Compiled, ...]:
        if selectors not in self._compiled:
            self._compiled[selectors] = tuple(map(cel.compiled, selectors))
        return self._compiled[selectors]


def _measure(selectors: tuple[_Compiled, ...], hardware: Hardware, meter: Meter) -> Iterable[SelectorsVerdict]:
    """Yield the verdict of the selectors on each device. Raises OutOfStatesError."""
    for device in hardware.devices:
        found = _evaluate_in_order(selectors, cel.subject(device))
        meter.spend(found.states)
        yield found


def _evaluate_in_order(selectors: tuple[_Compiled, ...], subject: cel.Subject) -> SelectorsVerdict:
    states = 0
    for index, selector in enumerate(selectors):
        verdict, work = cel.measure(selector, subject)
        states += states_of(work)
        if verdict.outcome is not _MATCH:
            return SelectorsVerdict(verdict.outcome, index, verdict.why or "", states)
    return SelectorsVerdict(_MATCH, states=states)


def matching(selectors: tuple[str, ...], devices: Sequence[Device]) -> list[bool] | None:
    """Return, for each device of a class, whether all selectors match it; None if that takes too many states."""
    programs, found, states = tuple(map(cel.compiled, selectors)), [], 0
    for device in devices:
        verdict = _evaluate_in_order(programs, cel.subject(device))
        states += verdict.states
        if states > CHARGED_STATES:
            return None
        found.append(verdict.outcome is cel.Outcome.MATCH)
    return found


def bad_selectors(deployment: Deployment) -> tuple[BadSelector, ...]:
    """Return every selector that does not compile, in the order in which the deployment states them."""
    found: dict[BadSelector, None] = {}
    members = ((p, engine, member) for p in deployment.profiles for engine in p.engines for member in engine.members)
    for profile, engine, member in members:
        for request in member.requests:
            for text in request.selectors:
                compiled = cel.compiled(text)
                if isinstance(compiled, cel.SelectorError):
                    where = engine.name, request.name, text, compiled.line, compiled.column
                    found.setdefault(BadSelector(*where, compiled.why, profile.name))
    return tuple(found)
