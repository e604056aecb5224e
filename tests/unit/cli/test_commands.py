"""What holds for all commands: help with an example, and what a laptop that previews does without."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from modelplane.cli import FAILED, INTERRUPTED, main
from modelplane.preview import ControlPlane
from modelplane.reading.definitions import CHECKOUT

COMMANDS = main.list_commands(click.Context(main))
#: What only the functions' servers and the download of weights need.
SERVER_ONLY = ("grpc", "google", "crossplane", "huggingface_hub")
#: Runs a command where importing any of them fails.
_WITHOUT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from modelplane.cli import main
main()
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example_that_names_it(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--help"], prog_name="modelplane")
    assert done.exit_code == 0
    _, found, examples = done.stdout.partition("Example")
    assert found
    assert f"modelplane {name}" in examples


def test_help_lists_every_command_with_what_it_does() -> None:
    listed = CliRunner().invoke(main, ["--help"]).stdout.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == COMMANDS
    assert [line for line in listed if line.strip() and not line.rstrip().endswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["preview", "examples/fleet", "examples/deployments/qwen3-8b.yaml"], "3 of 3 replicas of 1 deployment placed"),
        (["cel", "-f", "examples/fleet"], "accepted"),
    ],
    ids=["preview", "cel"],
)
def test_previewing_needs_no_server_and_no_hub(arguments: list[str], expected: str) -> None:
    command = [sys.executable, "-c", _WITHOUT, ",".join(SERVER_ONLY), *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert expected in done.stdout


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt, INTERRUPTED), (ZeroDivisionError, FAILED)])
def test_a_command_that_comes_to_no_answer_exits_with_a_code_that_is_none(
    monkeypatch: pytest.MonkeyPatch, raised: type[BaseException], code: int
) -> None:
    def settle(_: ControlPlane) -> bool:
        raise raised

    monkeypatch.setattr(ControlPlane, "settle", settle)
    done = CliRunner().invoke(main, ["preview", "--strict", "-"], input="kind: List\nitems: []")
    assert (done.exit_code, done.stdout) == (code, "")
    assert ("Traceback" in done.stderr) is (code == FAILED)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("image", [None, ""])
def test_a_preview_takes_the_image_of_downloads_for_named(image: str | None) -> None:
    paths = ["examples/fleet", "examples/caches"]
    done = CliRunner().invoke(main, ["preview", *paths, "-o", "json"], env={"MODELPLANE_IMAGE": image})
    assert '"kind": "ModelCache"' in done.stdout
    assert "MODELPLANE_IMAGE" not in done.stdout


def test_output_that_a_full_disk_does_not_take_is_no_answer() -> None:
    command = [sys.executable, "-c", "from modelplane.cli import main; main()", "cel", "-f", "examples/fleet"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=CHECKOUT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (FAILED, "cannot write: No space left on device\n")
