"""The wheel on a laptop: with the packages that it requires and no others, its commands run, without gRPC."""

import json
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment in which the wheel is installed, as pipx does it."""
    folder = tmp_path_factory.mktemp("laptop")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False)
    programs = folder / "venv" / "bin"
    pip = ("-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"), "install")
    _run(sys.executable, *pip, "--quiet", "--no-index", "--no-deps", str(wheel))
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # What it requires is here already, as it would come from a registry.
    for each in _required(wheel):
        _link(each, packages)
    return programs


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    control = ControlPlane([hardware(), cluster("east"), cluster("west"), deployment("chat")])
    assert control.settle()
    file = tmp_path_factory.mktemp("export") / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": control.everything()}))
    return file


def _required(wheel: Path) -> Iterator[Distribution]:
    """Yield what a wheel requires without extras, and what that requires."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (each for each in packed.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = message_from_string(packed.read(name).decode())
    waiting, found = [Requirement(each) for each in metadata.get_all("Requires-Dist", ())], set()
    while waiting:
        wanted = waiting.pop()
        key = (wanted.name, frozenset(wanted.extras))
        if key in found or not any(
            wanted.marker is None or wanted.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)
        ):
            continue
        found.add(key)
        each = distribution(wanted.name)
        yield each
        waiting += [
            one
            for one in map(Requirement, each.requires or ())
            if one.marker is None or one.marker.evaluate({"extra": ""})
        ]


def _link(package: Distribution, folder: Path) -> None:
    for top in {Path(file).parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
        if not (folder / top).exists():
            (folder / top).symlink_to(Path(str(package.locate_file(top))))


def _run(*command: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_packages_that_only_images_need_are_not_there(laptop: Path) -> None:
    asked = "import importlib.util as u; print([n for n in ('grpc', 'google', 'huggingface_hub') if u.find_spec(n)])"
    assert _run(str(laptop / "python"), "-c", asked).stdout.strip() == "[]"


#: Commands, and what they print.
COMMANDS = {
    "--help": "Show what an edit would do to a fleet.",
    "get -f {export}": "team/chat",
    "why team/chat -f {export}": "team/chat",
    "capacity -f {export}": "east",
    "plan --set team/chat.replicas=2 --from {export}": "a replica would start on west",
    "preview {export}": "1 of 1 replica",
}


@pytest.mark.parametrize("program", ["modelplane", "kubectl-modelplane"])
def test_each_program_shows_its_help(laptop: Path, program: str) -> None:
    name = program.replace("-", " ")
    assert _run(str(laptop / program), "--help").stdout.startswith(f"Usage: {name} ")


@pytest.mark.parametrize(("command", "words"), COMMANDS.items(), ids=[each.split()[0] for each in COMMANDS])
def test_a_command_runs_on_a_laptop(laptop: Path, export: Path, command: str, words: str) -> None:
    arguments = command.format(export=export).split()
    assert words in _run(str(laptop / "modelplane"), *arguments).stdout
