"""Another version of Python is found where it runs, and asked for where there is none."""

from pathlib import Path

import pytest

from modelplane_dev import pythons


def _command(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with `bin`, all that is on PATH, and `pyenv`; the tests run on a Python 3.11 there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr("sys.version_info", (3, 11, 7))
    return tmp_path


def test_the_newest_that_runs_is_found_on_path_or_in_pyenv(machine: Path) -> None:
    _command(machine / "bin", "python3.14", "exit 127")  # a shim of pyenv that leads nowhere
    _command(machine / "bin", "python3.12", "echo cpython 3 12")
    assert pythons.find() == machine / "bin" / "python3.12"
    newer = _command(machine / "pyenv/versions/3.13.0/bin", "python3.13", "echo cpython 3 13")
    assert pythons.find() == newer


@pytest.mark.parametrize("answer", ["cpython 3 11", "pypy 3 13", ""])
def test_the_same_version_or_another_implementation_is_not_another_version(
    machine: Path, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _command(machine / "bin", "python3.13", f"echo {answer}")
    assert pythons.main() == 1
    assert "Install one, for example" in capsys.readouterr().err
