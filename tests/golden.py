"""Golden files: what tests compare with and a reviewer has read. `make golden` rewrites all of them.

A test takes the fixture `golden`, which compares; that is how `make golden` knows it. Where cases are files,
NAME.KIND.yaml is the input of the case NAME, and its golden files lie beside it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

#: Environment variable that is "write" where golden files are rewritten.
VARIABLE = "MODELPLANE_GOLDEN"

HOW = "differs from what is made now: run `make golden` and read the difference"


@dataclass(frozen=True, slots=True)
class Golden:
    """Compares with golden files; where it is `rewriting`, it makes them equal first."""

    rewriting: bool

    @classmethod
    def of_environment(cls) -> "Golden":
        """Return what the environment asks for."""
        return cls(os.environ.get(VARIABLE) == "write")

    def compare_text(self, file: Path, made: str) -> None:
        """Assert that a file has this text."""
        if self.rewriting and (not file.exists() or file.read_text() != made):
            _write(file, made)
        assert file.read_text() == made, f"{file} {HOW}"

    def compare_documents(self, file: Path, made: Sequence[Any]) -> None:
        """Assert that a file has these YAML documents, however they are written down."""
        if self.rewriting and (not file.exists() or read_documents(file) != list(made)):
            _write(file, yaml.safe_dump_all(made, sort_keys=False, width=120, explicit_start=True))
        assert read_documents(file) == list(made), f"{file} {HOW}"


def read_documents(file: Path) -> list[Any]:
    """Return the YAML documents of a file."""
    return list(yaml.safe_load_all(file.read_text()))


def inputs(folder: Path, kind: str) -> dict[str, Path]:
    """Return the inputs of one kind in a folder, by the name of the case."""
    suffix = f".{kind}.yaml"
    return {file.name.removesuffix(suffix): file for file in sorted(folder.glob(f"*{suffix}"))}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
