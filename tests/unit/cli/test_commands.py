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
    ours, images = (
        CliRunner().invoke(main, ["--help"]).stdout.partition("Commands:")[2].split("Commands of the images:")
    )
    listed = [[line for line in part.splitlines() if line.strip()] for part in (ours, images)]
    assert [line.split()[0] for line in listed[1]] == ["hydrate", "inventory", "observe", "serve"]
    assert sorted(line.split()[0] for part in listed for line in part) == COMMANDS
    assert [line for part in listed for line in part if not line.rstrip().endswith(".")] == []


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


@pytest.mark.parametrize("arguments", [["-h"], ["help"], ["get", "-h"], ["help", "get"]], ids=" ".join)
def test_help_has_all_of_its_usual_names(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, arguments, prog_name="modelplane")
    words = " ".join(each for each in arguments if each not in {"-h", "help"})
    assert (done.exit_code, done.stdout.splitlines()[0].startswith(f"Usage: modelplane {words}".rstrip())) == (0, True)


def test_the_version_is_a_command_too() -> None:
    shown = [CliRunner().invoke(main, [each], prog_name="modelplane").stdout for each in ("version", "--version")]
    assert shown[0] == shown[1]


def test_a_mistyped_command_is_answered_with_those_that_are_near() -> None:
    done = CliRunner().invoke(main, ["previw"])
    assert (done.exit_code, "No such command 'previw'. Did you mean preview?" in done.stderr) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_completes_commands_in_a_shell(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert (done.exit_code, "_MODELPLANE_COMPLETE" in done.stdout) == (0, True)


def test_kubectl_is_answered_what_may_follow_and_that_it_is_no_file() -> None:
    code = "import sys; from modelplane.cli import complete; sys.argv[1:] = ['tr']; complete()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, last = done.stdout.splitlines()
    assert (first.split("\t")[0], last) == ("tree", ":4")


def test_the_plugin_is_named_as_kubectl_calls_it() -> None:
    code = "import sys; from modelplane.cli import kubectl_main; sys.argv[1:] = ['-h']; kubectl_main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: kubectl modelplane [OPTIONS]")


def test_a_reader_that_ends_early_is_no_answer() -> None:
    code = "from modelplane.cli import main; main()"
    command = f"{sys.executable} -c '{code}' cel -f examples/fleet; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({command}) | true"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stderr == "141\n"


#: What a usage error must not wait for.
_SLOW = ("modelplane.api", "modelplane.preview", "modelplane.scheduling", "modelplane.live", "rich", "yaml", "pydantic")


@pytest.mark.parametrize(
    "name", [each for each in COMMANDS if each not in {"serve", "hydrate", "inventory", "observe"}]
)
def test_help_and_usage_errors_import_nothing_that_takes_long(name: str) -> None:
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom modelplane.cli import main\n"
        f"codes = [CliRunner().invoke(main, [{name!r}, each]).exit_code for each in ('--help', '--none')]\n"
        f"print(codes, [each for each in {_SLOW!r} if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 2] []\n"
