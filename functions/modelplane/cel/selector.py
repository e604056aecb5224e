"""A compiled selector."""

from dataclasses import dataclass

from modelplane.cel.checker import check
from modelplane.cel.devices import Subject
from modelplane.cel.evaluator import Code, Compiler
from modelplane.cel.parser import parse
from modelplane.cel.reads import Reads, reads
from modelplane.cel.source import MAX_WORK, refuse
from modelplane.cel.values import AbortError, EvaluationError, Frame, Value, type_name
from modelplane.cel.verdict import Outcome, Verdict
from modelplane.model.fleet import Device

_OUTCOMES = {True: Verdict(Outcome.MATCH), False: Verdict(Outcome.NO_MATCH)}


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled selector, and what it reads of a device. It keeps no state of evaluations: threads may share it."""

    text: str
    reads: Reads
    _code: Code
    _slots: int

    def evaluate(self, device: Device) -> Verdict:
        """Return what the selector says about a device; ERROR if the device has problems."""
        return self.measure(Subject(device))[0]

    def measure(self, subject: Subject) -> tuple[Verdict, int]:
        """Return what the selector says about a device, and the work that it took."""
        if subject.problems:
            return Verdict(Outcome.ERROR, subject.problems[0]), 0
        frame = Frame(subject.value(), [None] * self._slots, MAX_WORK)
        try:
            found = self._code(frame)
        except (EvaluationError, AbortError) as error:
            verdict = Verdict(Outcome.ERROR, str(error))
        except RecursionError:
            verdict = Verdict(Outcome.ERROR, "limit: nested too deep for the stack that is left")
        else:
            verdict = _OUTCOMES[found] if type(found) is bool else _not_bool(found)
        return verdict, MAX_WORK - frame.work if frame.work > 0 else MAX_WORK


def _not_bool(found: Value) -> Verdict:
    return Verdict(Outcome.ERROR, f"evaluates to {type_name(found)}, not to bool")


def compile(text: str) -> Selector:  # noqa: A001 (the name of what it does)
    """Compile a text. Raises SelectorError for what Kubernetes refuses, and what cannot be evaluated as it does."""
    try:
        tree = parse(text)
        check(text, tree)
        compiler = Compiler(text)
        code = compiler.code(tree)
        read = reads(tree)
    except RecursionError:
        raise refuse(text, 0, "limit: nested too deep for the stack that is left") from None
    return Selector(text, read, code, compiler.slots)
