"""What counts as refused, and the sign of life that a terminal gets."""

import io
import time
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from modelplane.cli import main
from modelplane.cli import preview as preview_command
from modelplane.preview import ControlPlane
from modelplane.preview.report import exit_code, refusals, report
from modelplane.step import Result, Step
from unit.preview.fakes import composing, config_map, endpoint, plane

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
    ((name, said),) = refusals(control)
    assert name == "ModelEndpoint team/e"
    assert said.startswith(why)
    assert exit_code(outcome, [name]) == 1


def test_a_composite_whose_pass_failed_once_and_then_did_not_is_not_refused() -> None:
    results = iter((Result(fatal="not yet"), Result(), Result()))
    control = plane(endpoint(), ModelEndpoint=lambda _: next(results))
    outcome = report(control, settled=control.settle())
    assert refusals(control) == []
    assert exit_code(outcome, []) == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_is_told_that_a_long_preview_goes_on(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    shown = io.StringIO()

    def console(**given: Any) -> Console:
        return Console(file=shown, force_terminal=terminal) if given.get("stderr") else Console(**given)

    def settle(_: ControlPlane) -> bool:
        time.sleep(0.2)
        return True

    monkeypatch.setattr(preview_command, "Console", console)
    monkeypatch.setattr(preview_command, "_PATIENCE", 0.01)
    monkeypatch.setattr(ControlPlane, "settle", settle)
    done = CliRunner().invoke(main, ["preview", "-"], input=str(config_map()))
    assert done.exit_code == 0
    assert ("Reconciling" in shown.getvalue()) == terminal
