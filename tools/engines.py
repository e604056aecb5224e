"""Builds the real components that tests and users run, each set from its own pinned Go module, into a cache.

    engines.py build [SET...]       build what is missing (all sets when none is named)
    engines.py path BINARY          print the path of a binary, building its set when it is missing
    engines.py source SET MODULE    print the folder of a module's source, at the version the set pins

Paths go to standard output, everything else to standard error. The cache lies outside the tree, one folder a set, named
by the content of the set's folder and its build flags: a folder that is there is complete, and any change of a pin gets
a folder of its own. Only the standard library is used, so that any Python from 3.11 on can run this.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cache
import toolchain

TOOLS = Path(__file__).resolve().parent
#: Folder of the cache.
CACHE = "engines"
#: Seconds between two signs of life while a build runs.
PULSE = 30


class BuildError(Exception):
    """A component could not be built or found; the text says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program: its Go package, and whether linking sets a `version_symbol` to the version of its `module`."""

    package: str
    module: str | None = None
    version_symbol: str | None = None


@dataclass(frozen=True, slots=True)
class EngineSet:
    """What is built from one folder under tools/. `usually` says how long that takes; no binaries: source only."""

    binaries: dict[str, Binary]
    usually: str = ""


SETS = {
    "crossplane": EngineSet(
        {
            "crossplane-core": Binary(
                "github.com/crossplane/crossplane/v2/cmd/crossplane",
                module="github.com/crossplane/crossplane/v2",
                version_symbol="github.com/crossplane/crossplane-runtime/v2/pkg/version.version",
            ),
            "render-descriptor": Binary("./descriptor"),
        },
        usually="3 to 4 minutes on two cores, half a minute when Go has most of it cached",
    ),
    "cli": EngineSet(
        {"crossplane": Binary("github.com/crossplane/cli/v2/cmd/crossplane")},
        usually="3 to 4 minutes on two cores, half a minute when Go has most of it cached",
    ),
    "provider-kubernetes": EngineSet(
        {"provider": Binary("github.com/crossplane-contrib/provider-kubernetes/cmd/provider")},
        usually="2 to 3 minutes on two cores",
    ),
    "kube": EngineSet(
        {"etcd": Binary("go.etcd.io/etcd/server/v3")}
        | {
            name: Binary(
                f"k8s.io/kubernetes/cmd/{name}",
                module="k8s.io/kubernetes",
                version_symbol="k8s.io/component-base/version.gitVersion",
            )
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        usually="6 to 8 minutes on two cores",
    ),
    "kwok": EngineSet({"kwok": Binary("sigs.k8s.io/kwok/cmd/kwok")}, usually="2 minutes on two cores"),
    "lws": EngineSet({"lws": Binary("sigs.k8s.io/lws/cmd")}, usually="2 minutes on two cores"),
    "gateway-api": EngineSet({}),
    "inference-extension": EngineSet({}),
}


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, file=sys.stderr, flush=True)


def pinned(name: str, module: str) -> str:
    """Return the version of a module that a set's go.mod pins."""
    for line in (TOOLS / name / "go.mod").read_text().splitlines():
        words = line.removeprefix("require").split()
        if words[:1] == [module] and len(words) > 1:
            return words[1]
    raise BuildError(f"tools/{name}/go.mod does not require {module}")


def commands(name: str) -> dict[str, list[str]]:
    """Return the `go` arguments that build each binary of a set, without the output path."""
    found = {}
    for binary, spec in SETS[name].binaries.items():
        linking = "-s -w"
        if spec.module and spec.version_symbol:
            linking += f" -X {spec.version_symbol}={pinned(name, spec.module)}"
        flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", linking]
        found[binary] = ["build", *flags, spec.package]
    return found


def folder(name: str) -> Path:
    """Return where a set's binaries are or will be: named by all that decides their content."""
    digest = hashlib.sha256(json.dumps(commands(name), sort_keys=True).encode())
    for file in sorted(path for path in (TOOLS / name).rglob("*") if path.is_file()):
        digest.update(f"\0{file.relative_to(TOOLS)}\0".encode() + file.read_bytes())
    return cache.folder(CACHE) / f"{name}-{digest.hexdigest()[:16]}"


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Let one process at a time build: two builds on one machine take longer than one after the other."""
    with (cache.folder(CACHE) / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another build of the engines is running; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: list[str], *, directory: Path, what: str) -> str:
    """Run a command, with a sign of life now and then; return its output. Raises BuildError with its errors."""
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
                say(f"  still at {what}, {time.monotonic() - started:.0f} s")
            except BaseException:
                process.kill()
                raise
    if process.returncode != 0:
        raise BuildError(f"{what} failed: {' '.join(command)}\n{errors.strip()}")
    return output


def build(name: str) -> Path:
    """Return the folder of a set's binaries, built unless it is there. Raises BuildError."""
    if name not in SETS:
        raise BuildError(f"no such set: {name}; there are {', '.join(SETS)}")
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
            for binary, arguments in commands(name).items():
                command = [str(go), *arguments[:-1], "-o", str(unfinished / binary), arguments[-1]]
                run(command, directory=TOOLS / name, what=f"building {binary}")
            unfinished.chmod(0o755)
            unfinished.rename(done)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        say(f"  done in {time.monotonic() - started:.0f} s: {done}")
    return done


def find_go() -> Path:
    """Return a `go` that is new enough: the one on PATH, else one fetched into the cache. Raises BuildError."""
    try:
        return toolchain.find(cache.folder(CACHE), say)
    except toolchain.ToolchainError as error:
        raise BuildError(str(error)) from error


def source(name: str, module: str) -> Path:
    """Return the folder that holds a module's source at the version a set pins. Raises BuildError."""
    pinned(name, module)
    with only_one():
        command = [str(find_go()), "mod", "download", "-json", module]
        answer = run(command, directory=TOOLS / name, what=f"fetching the source of {module}")
    return Path(json.loads(answer)["Dir"])


def path(binary: str) -> Path:
    """Return the path of a binary, built when it is missing. Raises BuildError."""
    for name, engine_set in SETS.items():
        if binary in engine_set.binaries:
            return build(name) / binary
    known = sorted(binary for engine_set in SETS.values() for binary in engine_set.binaries)
    raise BuildError(f"no such engine: {binary}; there are {', '.join(known)}")


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build and find the real components that tests and users run.")
    commands_ = parser.add_subparsers(dest="command", required=True)
    of_build = commands_.add_parser("build", help="build what is missing")
    of_build.add_argument("sets", nargs="*", metavar="SET", help="all when none is named")
    of_path = commands_.add_parser("path", help="print the path of a binary")
    of_path.add_argument("binary")
    of_source = commands_.add_parser("source", help="print the folder of a module's source")
    of_source.add_argument("set", choices=SETS)
    of_source.add_argument("module")
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "build":
                for name in arguments.sets or [name for name in SETS if SETS[name].binaries]:
                    build(name)
            case "path":
                print(path(arguments.binary))
            case "source":
                print(source(arguments.set, arguments.module))
    except BuildError as error:
        say(f"engines: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
