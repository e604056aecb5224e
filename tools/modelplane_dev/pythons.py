"""Finds another version of CPython than the one that runs this, for the tests: `python -m modelplane_dev.pythons`.

Prints the path of the newest one on PATH or among those of pyenv. Exit code 1 if there is none.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Minor versions of Python 3 that are looked for, the newest first. The oldest is that of pyproject.toml.
MINORS = (14, 13, 12, 11)
_ASK = "import sys; print(sys.implementation.name, *sys.version_info[:2])"


def candidates() -> Iterator[Path]:
    """Yield the files that may be another version of Python."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in (minor for minor in MINORS if (3, minor) != sys.version_info[:2]):
        if on_path := shutil.which(f"python3.{minor}"):
            yield Path(on_path)
        yield from sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"))


def find() -> Path | None:
    """Return another version of CPython; None if there is none."""
    return next((found for found in candidates() if _is_other(found)), None)


def _is_other(python: Path) -> bool:
    """Return whether a file runs as a CPython of another version: a shim of pyenv may refuse to, or run this one."""
    done = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=False)
    name, *version = done.stdout.split() or [""]
    return name == "cpython" and [int(number) for number in version] != list(sys.version_info[:2])


def main() -> int:
    """Print what is found; return the exit code."""
    if found := find():
        print(found)
        return 0
    wanted = ", ".join(f"3.{minor}" for minor in MINORS if (3, minor) != sys.version_info[:2])
    print(
        f"pythons: no CPython {wanted} on PATH or in pyenv. Install one, for example: pyenv install 3.13",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
