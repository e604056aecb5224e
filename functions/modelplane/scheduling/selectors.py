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
from modelplane.scheduling.budget import Meter, SearchBudget, Searches, states_of
from modelplane.scheduling.closest import shown
from modelplane.scheduling.hardware import Hardware, seen_by

#: Most states of the selectors of a request on the devices of a class that are looked at when a pod is charged with
#: what it can be given there. Whoever reads the pool pays for it, not only who wrote the selectors.
CHARGED_STATES: Final = 500
_MATCH: Final = cel.Outcome.MATCH


@dataclass(frozen=True, slots=True)
class SelectorsVerdict:
    """The outcome for one device; `selector` is the index of the one that decided against it, `why` its error.

    `states` is what evaluating it counts.
    """

    outcome: cel.Outcome
    selector: int = 0
    why: str = ""
    states: int = 0


def evaluate(selectors: tuple[str, ...], device: Device) -> SelectorsVerdict:
    """Return what the selectors, tried in order, say about the device: the first that does not match stops."""
    for index, text in enumerate(selectors):
        verdict = cel.verdict(text, device)
        if verdict.outcome is not cel.Outcome.MATCH:
            return SelectorsVerdict(verdict.outcome, index, verdict.why or "")
    return SelectorsVerdict(cel.Outcome.MATCH)


Verdicts = tuple[SelectorsVerdict, ...]
_Key = tuple[tuple[str, ...], Hardware]
_Compiled = cel.Selector | cel.SelectorError


def _weigh(key: _Key, found: Verdicts | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: the texts, devices that nothing else may keep, and errors."""
    selectors, hardware = key
    errors = 0 if isinstance(found, SearchBound) else sum([96 + getsizeof(verdict.why) for verdict in found])
    return 512 + hardware.weight + sum([8 + getsizeof(text) for text in selectors]) + errors


VERDICTS: Searches[_Key, Verdicts] = Searches(16 * 1024 * 1024, _weigh)


class PassVerdicts:
    """The verdicts of one pass, each evaluation of which is charged to the pass's budget.

    A selector is evaluated once for all devices that are alike in what it reads.
    """

    def __init__(self, budget: SearchBudget) -> None:
        self._budget = budget
        self._reads: dict[tuple[str, ...], cel.Reads] = {}
        #: What was narrowed in this pass; the second part of a key is the identity of the reads, which are one of each.
        self._narrowed: dict[tuple[Hardware, int, Hashable], Hardware] = {}
        self._one_of: dict[cel.Reads, cel.Reads] = {}
        self._compiled: dict[tuple[str, ...], tuple[_Compiled, ...]] = {}

    def on(self, selectors: tuple[str, ...], hardware: Hardware) -> Verdicts | SearchBound:
        """Return what the selectors of a request say about each device entry."""
        reads = self._reads_of(selectors)
        key = selectors, self._narrow(hardware, reads, "seen", lambda device: cel.seen(device, reads))
        return VERDICTS.find(
            key, self._budget, lambda meter: tuple(_measure(self._compiled_of(selectors), key[1], meter))
        )

    def read(self, selectors: tuple[str, ...], hardware: Hardware, most: int) -> Hardware:
        """Return the hardware with no more of its devices than selectors read, what they are claimed by, and `most`.

        More devices of an entry than a pod asks for in all are no different from just as many.
        """
        reads = self._reads_of(selectors)

        def see(device: Device) -> Device:
            only = cel.narrowed(device, lambda name: reads is None or name in reads)
            # A device with problems is an error as it stands, which names it.
            return replace(only, name=device.name if only is device else "", count=min(only.count, most))

        return self._narrow(hardware, reads, ("read", most), see)

    def shown(self, selectors: tuple[str, ...], hardware: Hardware) -> Hardware:
        """Return the hardware with no more of its devices than selectors read and a refusal shows."""
        reads = self._reads_of(selectors)
        if reads is None:
            return hardware
        return self._narrow(
            hardware, reads, "shown", lambda each: cel.narrowed(each, lambda name: name in reads or shown(name))
        )

    def _narrow(
        self, hardware: Hardware, reads: cel.Reads, what: Hashable, see: Callable[[Device], Device]
    ) -> Hardware:
        """Return the hardware with no more of each device than `see` leaves, which `what` and the reads stand for."""
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
    """Yield what the selectors, tried in order, say about each device. Raises OutOfStatesError."""
    for device in hardware.devices:
        found = _judge(selectors, cel.subject(device))
        meter.spend(found.states)
        yield found


def _judge(selectors: tuple[_Compiled, ...], subject: cel.Subject) -> SelectorsVerdict:
    states = 0
    for index, selector in enumerate(selectors):
        verdict, work = cel.measure(selector, subject)
        states += states_of(work)
        if verdict.outcome is not _MATCH:
            return SelectorsVerdict(verdict.outcome, index, verdict.why or "", states)
    return SelectorsVerdict(_MATCH, states=states)


def matching(selectors: tuple[str, ...], devices: Sequence[Device]) -> list[bool] | None:
    """Return of each device of a class whether all selectors match it; None where that takes too many states."""
    programs, found, states = tuple(map(cel.compiled, selectors)), [], 0
    for device in devices:
        verdict = _judge(programs, cel.subject(device))
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
