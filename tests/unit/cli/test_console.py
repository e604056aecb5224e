"""What every command prints with."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from rich.console import Console

from given.manifests import cluster, deployment, hardware
from modelplane.cli import console as printing
from modelplane.cli import main
from modelplane.model.fleet import Device
from modelplane.preview import ControlPlane
from unit.preview.fakes import config_map

#: Commands that may take long, and the words that a terminal is shown while they do.
LONG = {"preview": (["preview", "-"], "Reconciling ..."), "cel": (["cel", "true", "-f", "-"], "Reading devices ...")}


@pytest.mark.parametrize(("arguments", "shown"), LONG.values(), ids=LONG)
@pytest.mark.parametrize("terminal", [True, False], ids=["a terminal", "a pipe"])
def test_only_a_terminal_shows_that_a_long_command_is_at_work(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, arguments: list[str], shown: str
) -> None:
    written = io.StringIO()

    def console(**given: Any) -> Console:
        return Console(file=written, force_terminal=terminal) if given.get("stderr") else Console(**given)

    def take_long() -> None:
        time.sleep(0.2)
        until = time.monotonic() + 60
        while terminal and shown not in written.getvalue() and time.monotonic() < until:
            time.sleep(0.05)

    def slowly(_: ControlPlane) -> bool:
        take_long()
        return True

    def accepted_slowly(_: Device) -> tuple[str, ...]:
        take_long()
        return ()

    monkeypatch.setattr(printing, "Console", console)
    monkeypatch.setattr(printing, "_PATIENCE", 0.01)
    monkeypatch.setattr(ControlPlane, "settle", slowly)
    monkeypatch.setattr("modelplane.cel.problems", accepted_slowly)
    done = CliRunner().invoke(main, arguments, input=yaml.safe_dump_all([config_map(), hardware()]))
    assert done.exit_code == 0
    assert (shown in written.getvalue()) == terminal


@pytest.mark.parametrize("arguments", [("preview", "-f"), ("plan", "--set", "team/evil.replicas=3", "--from")], ids=str)
def test_a_terminal_obeys_nothing_that_a_team_has_written(arguments: tuple[str, ...], tmp_path: Path) -> None:
    evil = deployment("evil")
    (device,) = evil["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"]
    device["selectors"] = [{"cel": 'device.driver == "\x1b[2Jgone"'}]
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [hardware(), cluster("east"), evil]}))
    said = CliRunner().invoke(main, [*arguments, str(file)]).stdout
    assert r"\x1b[2Jgone" in said
    assert "\x1b" not in said
