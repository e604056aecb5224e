"""A laptop previews without what only the image needs, and a command that needs it says how to get it."""

import json
import subprocess
import sys

import pytest

from modelplane_dev.folders import ROOT

#: The modules of the extra `functions`.
_EXTRA = ("grpc", "google", "crossplane", "huggingface_hub", "httpx2")
_WITHOUT = f"""
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {_EXTRA}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Absent())
from modelplane.cli import main
main(prog_name="modelplane")
"""


def _run(*arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _WITHOUT, *arguments]
    environment = {"PYTHONPATH": str(ROOT / "functions")}
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment)


def test_the_preview_runs_without_the_extra() -> None:
    done = _run("preview", str(ROOT / "examples"), "-o", "json")
    (assumed,) = done.stderr.splitlines()
    assert assumed.startswith("Not in the input and assumed to exist: Secret ")
    assert json.loads(done.stdout)["settled"] is True


def test_selectors_are_tried_without_the_extra() -> None:
    expression = 'device.driver == "gpu.nvidia.com" && device.driver.matches("^gpu")'
    device = {"driver": "gpu.nvidia.com", "attributes": {}, "capacity": {}}
    done = _run("cel", "--jsonl", given=json.dumps({"expression": expression, "device": device}))
    assert (json.loads(done.stdout)["verdict"], done.stderr) == ("match", "")


def test_help_is_shown_without_the_extra() -> None:
    done = _run("--help")
    assert (done.returncode, "serve" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "module"),
    [(["serve", "schedule", "--insecure"], "google"), (["hydrate", "--repo", "a/b", "--target", "."], "httpx2")],
)
def test_a_command_that_needs_the_extra_says_which(arguments: list[str], module: str) -> None:
    done = _run(*arguments)
    lacking = f"modelplane {arguments[0]}: no module {module}, which the extra functions brings"
    assert (done.returncode, done.stderr) == (1, f"Error: {lacking}: pip install 'modelplane[functions]'\n")
