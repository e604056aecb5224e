"""One call of a step: it is selected by the composite's kind, its exceptions are caught, and its result is completed.

The server and the preview both call steps through `run`, so that the preview is what production does.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from modelplane.step import Object, Request, Result, Step
from modelplane.step.completion import complete


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The completed result of a step, and the exception where the step failed, for the caller to log."""

    result: Result
    defect: Exception | None = None


def run(step: Step, request: Request) -> StepOutcome:
    """Return the step's result, with all conditions of the composite's kind and capped messages.

    Raises nothing: an exception of the step becomes a fatal result that changes nothing.
    """
    try:
        return StepOutcome(complete(request, step(request)))
    except Exception as error:  # noqa: BLE001 - whatever a defect raises, Crossplane must change nothing
        return fail(request, error)


def fail(request: Request, error: Exception) -> StepOutcome:
    """Return the outcome of a defect: a fatal result with unchanged conditions."""
    message = " ".join(f"{type(error).__name__}: {error}".split())
    text = f"{identity(request.composite)}: a defect of Modelplane; nothing was changed; report it with the log: "
    return StepOutcome(complete(request, Result(fatal=text + message)), error)


def dispatch(function: str, steps: Mapping[str, Step]) -> Step:
    """Return one step that calls the step of the composite's kind; a kind without a step gives a fatal result."""

    def call(request: Request) -> Result:
        step = steps.get(request.composite.kind)
        if step is None:
            known = ", ".join(sorted(steps)) or "none"
            kind = request.composite.kind or "object without a kind"
            return Result(fatal=f"function {function} composes no {kind} (it knows: {known}); correct the Composition")
        return step(request)

    return call


def identity(composite: Object) -> str:
    """Return kind, namespace and name of a composite as text, whatever is missing of them."""
    path = "/".join(part for part in (composite.namespace, composite.name) if part)
    return f"{composite.kind} {path}".strip() or "composite"
