"""What `make package` builds: the same bytes each time, small, and an image in which each function runs."""

import itertools
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from modelplane import __version__
from modelplane.cli.serve import FUNCTIONS
from modelplane_dev.folders import ROOT
from modelplane_dev.packages import xpkg
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process

#: Where the packages are said to be pushed.
REGISTRY = "registry.example.org/team"
#: Bytes of a function's package, which holds the image.
LARGEST = 150 * 1024 * 1024
#: The environment of the image, for what a dependency is asked for only somewhere.
IMAGE = {"sys_platform": "linux", "platform_system": "Linux", "python_version": "3.11", "python_full_version": "3.11.2"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Build all packages; give the file of each by its name, and remove all afterwards."""
    folder = tmp_path_factory.mktemp("packages")
    yield {file.stem: file for file in xpkg.build_all(folder, REGISTRY)}
    shutil.rmtree(folder)


def _pins(lock: Path) -> dict[str, tuple[str, ...]]:
    """Return version and hashes of each package of a lock by its name, without the conditions that it stands under."""
    entries = [entry.split() for entry in lock.read_text().replace("\\\n", " ").splitlines()]
    named = {words[0].partition("==")[0]: words for words in entries}
    return {name: (words[0], *(word for word in words if "--hash" in word)) for name, words in named.items()}


def _needed(name: str, extras: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names of everything that a package needs in the image, itself included."""
    yield canonicalize_name(name)
    for text in metadata.requires(name) or ():
        wanted = Requirement(text)
        if not wanted.marker or any(wanted.marker.evaluate({**IMAGE, "extra": extra}) for extra in {"", *extras}):
            yield from _needed(wanted.name, frozenset(wanted.extras))


def _opened(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    found = archive.extractfile(name)
    assert found, name
    return found


def _image(archive: tarfile.TarFile) -> tuple[list[str], dict[str, Any]]:
    """Return the layers of the image in a package, and how it is run."""
    manifest = json.load(_opened(archive, "manifest.json"))[0]
    return manifest["Layers"], json.load(_opened(archive, manifest["Config"]))["config"]


@pytest.fixture(scope="module")
def root(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Unpack the image, and remove it afterwards."""
    folder = tmp_path_factory.mktemp("root")
    with tarfile.open(packages["modelplane-schedule"]) as archive:
        for name in _image(archive)[0]:
            with tarfile.open(fileobj=_opened(archive, name)) as layer:
                layer.extractall(folder, filter="tar")
    yield folder
    shutil.rmtree(folder)


def _command(root: Path, *arguments: str) -> tuple[list[str | Path], dict[str, str | Path]]:
    """Return a command and environment that run the Python of an unpacked image with the C library beside it."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    command: list[str | Path] = [
        libraries / "ld-linux-x86-64.so.2",
        "--library-path",
        libraries,
        root / "usr/bin/python3.11",
        "-I",
    ]
    return [*command, root / "usr/local/bin" / arguments[0], *arguments[1:]], {"PYTHONHOME": root / "usr"}


def test_two_builds_are_the_same_byte_for_byte(packages: dict[str, Path], tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        # The Configuration and one function: the others hold the same image, and differ by what starts in it.
        again = list(itertools.islice(xpkg.build_all(tmp_path / "again", REGISTRY), 2))
    finally:
        os.umask(umask)
    assert len(again) == 2
    assert [file.stem for file in again if file.read_bytes() != packages[file.stem].read_bytes()] == []
    shutil.rmtree(tmp_path)


def test_the_packages_are_the_configurations_and_one_for_each_function(packages: dict[str, Path]) -> None:
    assert packages.keys() == {"modelplane", "modelplane-clouds", *(f"modelplane-{name}" for name in FUNCTIONS)}
    assert [name for name, file in packages.items() if file.stat().st_size > LARGEST] == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_runs_in_the_image_of_its_package(root: Path, tmp_path: Path, function: str) -> None:
    port = free_port()
    command, environment = _command(root, "modelplane", "serve", function, "--insecure", f"--address=127.0.0.1:{port}")
    with Process(function, tmp_path, command, environment) as running:
        running.wait_for(lambda: listens(port))


def test_each_package_starts_its_function_in_an_image_of_layers_that_all_share(packages: dict[str, Path]) -> None:
    layers = []
    for function in FUNCTIONS:
        with tarfile.open(packages[f"modelplane-{function}"]) as archive:
            found, config = _image(archive)
        assert config["Entrypoint"] == ["modelplane", "serve", function]
        assert f"MODELPLANE_IMAGE={REGISTRY}/modelplane-compose-cache:v{__version__}" in config["Env"]
        assert "METRICS_ADDRESS=0.0.0.0:8080" in config["Env"]
        layers.append(set(found))
    shared = set.intersection(*layers)
    # A package's own layer is its metadata.
    assert [len(found - shared) for found in layers] == [1] * len(FUNCTIONS)
    assert len(shared) >= 3


def test_the_image_holds_what_modelplane_needs_and_of_the_versions_that_are_tested() -> None:
    pins = _pins(ROOT / "package" / "image" / "requirements.lock")
    assert pins.keys() == set(_needed("modelplane", frozenset({"functions"}))) - {"modelplane"}
    assert pins.items() <= _pins(ROOT / "requirements.lock").items()


def test_the_image_has_the_program_that_downloads_weights(root: Path) -> None:
    command, environment = _command(root, "modelplane", "hydrate", "--help")
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert "--repo" in done.stdout
