"""Every command of the README and of docs/ does and prints what the page says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import engines
from docs.blocks import Command, File, blocks, matches

ROOT = engines.ROOT
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: What a reader has in the folder of a clone, but for what git keeps there.
CLONE = [entry for entry in ROOT.iterdir() if entry.name not in {".git", ".pytest_cache"}]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder that looks like a clone, in which a page may write files."""
    for entry in CLONE:
        (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_pages_commands_print_what_it_says(page: Path, clone: Path) -> None:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
    for block in blocks(page):
        if isinstance(block, File):
            (clone / block.name).write_text(block.text)
        else:
            _run(block, clone, environment)


def _run(command: Command, directory: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert matches(command.expected, tuple(done.stdout.splitlines())), f"$ {command.line}\n{done.stdout}"


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []
