"""What counts as refused, and the exit code that it means."""

import pytest

from modelplane.preview.report import exit_code, refusals, report
from modelplane.step import Result, Step
from unit.preview.fakes import composing, endpoint, plane

#: A pass that comes to nothing good, and the beginning of why.
FAILED = {
    "fatal": (lambda _: Result(fatal="no input"), "ReconcileError: cannot compose resources: pipeline step"),
    "a status that is not allowed": (
        lambda _: Result(status={"nonsense": 1}),
        "cannot compose resources: cannot apply composite resource status",
    ),
    "a resource that is not allowed": (
        composing(bad={**endpoint("child"), "spec": {"url": ""}}),
        "ReconcileError: Unsynced resources: bad",
    ),
}


@pytest.mark.parametrize(("step", "why"), FAILED.values(), ids=FAILED)
def test_a_composite_whose_pass_failed_is_refused(step: Step, why: str) -> None:
    control = plane(endpoint(), ModelEndpoint=step)
    outcome = report(control, settled=control.settle())
    ((name, message),) = refusals(control)
    assert name == "ModelEndpoint team/e"
    assert message.startswith(why)
    assert exit_code(outcome, [name]) == 1


def test_a_composite_whose_pass_failed_once_and_then_did_not_is_not_refused() -> None:
    results = iter((Result(fatal="not yet"), Result(), Result()))
    control = plane(endpoint(), ModelEndpoint=lambda _: next(results))
    outcome = report(control, settled=control.settle())
    assert refusals(control) == []
    assert exit_code(outcome, []) == 0
