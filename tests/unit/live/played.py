"""A kubectl of the tests on PATH, with the answers that a test gives it."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: By path, the answers in their order, each a status and a body.
Answers = Mapping[str, list[tuple[int, Any]]]


@dataclass(frozen=True, slots=True)
class Played:
    """The folder of a kubectl; `answers` and what it does else are in files there."""

    folder: Path

    def answer(self, answers: Answers) -> None:
        """Set its answers."""
        (self.folder / "answers.json").write_text(json.dumps(answers))

    def give(self, **given: Any) -> None:
        """Set what it says and does besides."""
        (self.folder / "given.json").write_text(json.dumps(given))

    def asked(self) -> list[str]:
        """Return the paths that it was asked for."""
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def commands(self) -> list[list[str]]:
        """Return the arguments that it was called with."""
        return [json.loads(line) for line in (self.folder / "commands").read_text().splitlines()]

    def environment(self, *, proxy: bool = True) -> dict[str, str]:
        """Return an environment whose kubectl it is; without `proxy` nothing there could end one."""
        needed = self.folder / "programs"
        needed.mkdir(exist_ok=True)
        if proxy and not (needed / "setpriv").exists():
            (needed / "setpriv").symlink_to(shutil.which("setpriv") or "/usr/bin/setpriv")
        return {**os.environ, "PATH": os.pathsep.join((str(self.folder), str(needed)))}


def played_kubectl(folder: Path) -> Played:
    """Return a kubectl without any answer."""
    program = folder / "kubectl"
    program.write_text(f"#!{sys.executable}\n{Path(__file__).with_name('kubectl.py').read_text()}")
    program.chmod(0o755)
    played = Played(folder)
    played.answer({})
    played.give()
    return played


def page(*names: str, further: str = "", version: str = "7") -> tuple[int, Any]:
    """Return an answer with objects of these names."""
    items = [{"metadata": {"name": name, "namespace": "ml", "managedFields": [{}]}} for name in names]
    return 200, {"metadata": {"continue": further, "resourceVersion": version}, "items": items}
