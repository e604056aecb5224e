"""`python -m modelplane_dev.components` with a fake `go`: what it builds, when, and what a failed build leaves."""

import fcntl
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from modelplane_dev.components import WHEELS
from modelplane_dev.folders import ROOT, TOOLS

GO = """#!/usr/bin/env bash
[ "$1" = version ] && { echo "go version go1.26.7 linux/amd64"; exit; }
echo "$@" >> "$PLAYED/calls"
[ -e "$PLAYED/broken" ] && { echo "no such module" >&2; exit 1; }
[ -e "$PLAYED/cut" ] && { rm "$PLAYED/cut"; echo 'Get "https://proxy.example.org": dial tcp: i/o timeout' >&2; exit 1; }
[ "$1" = mod ] && { echo '{"Dir": "the source"}'; exit; }
while [ "$1" != -o ]; do shift; done
echo "built" > "$2"
"""


class Tool:
    """The tool with a cache and a `go` of its own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        go = scratch / "bin" / "go"
        go.parent.mkdir()
        go.write_text(GO)
        go.chmod(0o755)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.scratch / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.scratch),
            "PLAYED": str(self.scratch),
        }
        command = [sys.executable, "-m", "modelplane_dev.components", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)

    @property
    def builds(self) -> int:
        calls = self.scratch / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0

    @property
    def cached(self) -> list[str]:
        found = (self.scratch / ".cache" / "modelplane" / "components").iterdir()
        return sorted(entry.name.rpartition("-")[0] for entry in found if entry.is_dir())


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def test_a_path_is_printed_alone_and_its_set_is_built_once(tool: Tool) -> None:
    first, second = tool("path", "crossplane"), tool("path", "crossplane")
    assert Path(first.stdout.strip()).read_text() == "built\n"
    assert second.stdout == first.stdout
    assert (tool.builds, tool.cached) == (1, ["cli"])


def test_it_says_what_it_builds_and_how_long_that_takes(tool: Tool) -> None:
    assert "Building crossplane-core" in (output := tool("build", "crossplane").stderr)
    assert "minutes" in output


def test_build_alone_builds_every_set_that_has_binaries(tool: Tool) -> None:
    assert tool("build").returncode == 0
    assert {"cli", "crossplane"} <= set(tool.cached)


def test_a_failed_build_leaves_nothing_and_the_next_one_starts_anew(tool: Tool) -> None:
    broken = tool.scratch / "broken"
    broken.touch()
    failed = tool("path", "crossplane")
    assert (failed.returncode, failed.stdout, tool.cached) == (1, "", [])
    assert "no such module" in failed.stderr
    broken.unlink()
    assert tool("path", "crossplane").returncode == 0


def test_a_network_that_fails_is_tried_again(tool: Tool) -> None:
    (tool.scratch / "cut").touch()
    done = tool("path", "crossplane")
    assert (done.returncode, tool.builds) == (0, 2)
    assert "i/o timeout" in done.stderr


def test_a_source_does_not_wait_for_the_build_of_something_else(tool: Tool) -> None:
    lock = tool.scratch / ".cache" / "modelplane" / "components" / "lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert tool("source", "crossplane", "github.com/crossplane/crossplane/v2").stdout == "the source\n"


@pytest.mark.parametrize(
    "arguments", [("path", "nix"), ("build", "nix"), ("fetch", "nix"), ("source", "cli", "example.org/nix")]
)
def test_a_name_that_is_unknown_is_refused(tool: Tool, arguments: tuple[str, ...]) -> None:
    done = tool(*arguments)
    assert done.returncode == 1
    assert "nix" in done.stderr
    assert tool.builds == 0


@pytest.mark.parametrize("target", ["gateways", "e2e"])
def test_wheels_are_fetched_before_the_tests_that_have_no_network(target: str) -> None:
    command = ("make", "--dry-run", target)
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    fetch, run = (
        lines.index("modelplane_dev.components fetch"),
        lines.rindex("GATEWAYS" if target == "e2e" else "--net"),
    )
    assert fetch < run


@pytest.mark.parametrize("name", WHEELS)
def test_wheels_are_pinned_for_every_machine_that_tests_run_on(name: str) -> None:
    # A release that has files for some machines only has several.
    lines = (TOOLS / f"{name}.lock").read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    assert all(later - earlier > 2 for earlier, later in pairwise([*starts, len(lines)]))
