"""`get -w` while the control cluster goes away and comes back."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from modelplane.cli import INTERRUPTED, main
from modelplane.cli.answers import watch
from unit.live.played import page, played_kubectl

PATH = "/apis/modelplane.ai/v1alpha1/modelcaches"
#: What kubectl's proxy answers while it does not reach the server.
AWAY = (502, "dial tcp 192.0.2.1:6443: connect: connection refused")


def cache(name: str) -> dict[str, Any]:
    spec = {"source": "HuggingFace", "huggingFace": {"repo": "org/model", "sizeGiB": 1}}
    return {"metadata": {"name": name, "namespace": "ml", "uid": name, "resourceVersion": "1"}, "spec": spec}


def test_what_is_shown_is_stale_while_the_server_is_away_and_current_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl = played_kubectl(tmp_path)
    monkeypatch.setenv("PATH", kubectl.environment()["PATH"])
    before, after = ((200, {**page()[1], "items": [*map(cache, names)]}) for names in (("old",), ("old", "new")))
    kubectl.answer({PATH: [before, AWAY, AWAY, after], f"{PATH}?watch": [AWAY]})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        """Wait as long as the server is away, and interrupt the command when it is gone again."""
        waited.append(seconds)
        if len(waited) > 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=wait, monotonic=time.monotonic))
    done = CliRunner().invoke(main, ["get", "caches", "-A", "-w"])
    said = [line.split(" 20")[0] for line in done.stderr.splitlines() if line.startswith(("stale", "current"))]
    assert (done.exit_code, said) == (INTERRUPTED, ["stale since", "current again at", "stale since"]), done.output
    assert AWAY[1] in done.stderr
    shown, changed = done.stdout.split("ml/new")[0], done.stdout.partition("\n\n")[2]
    assert "ml/old" in shown
    assert ("ml/new" in changed, "ml/old" in changed) == (True, False), done.stdout
