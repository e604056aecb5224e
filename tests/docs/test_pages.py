"""Every command of the README and of docs/ does and prints what the page says.

`make golden` writes what is printed now into the pages: read the difference before committing it. Output in which a
page leaves lines out (`...`) stays as it is.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import ANY, Command, File, blocks, matches
from golden import Golden
from modelplane_dev.folders import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: What make leaves in an environment when it has created it, in this order.
STAMPS = (".locked", ".ready")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder that looks like a clone, in which a page may write files.

    Its `.venv` is the environment that runs the tests, and as new as make wants it: nothing may create that anew now.
    """
    for entry in ROOT.iterdir():
        if entry.name != ".venv":
            (tmp_path / entry.name).symlink_to(entry)
    environment = tmp_path / ".venv"
    environment.mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name not in STAMPS:
            (environment / entry.name).symlink_to(entry)
    for stamp in STAMPS:
        (environment / stamp).touch()
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_pages_commands_print_what_it_says(page: Path, clone: Path, golden: Golden) -> None:
    for block in blocks(page):
        if isinstance(block, File):
            (clone / block.name).write_text(block.text)
            continue
        printed = run(block, clone)
        assert not any("Traceback" in line for line in printed), "\n".join(printed)
        if golden.rewriting and ANY not in block.expected:
            page.write_text(page.read_text().replace(block.text, "\n".join((f"$ {block.line}", *printed))))
            continue
        assert matches(block.expected, printed), "\n".join((f"$ {block.line}", *printed))


def run(command: Command, directory: Path) -> tuple[str, ...]:
    """Return the lines that a command prints, in a terminal of 100 columns."""
    used = {"COLUMNS": "100", "NO_COLOR": "1", "MAKEFLAGS": "--no-print-directory"}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=directory,
        env={**os.environ, **used, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return tuple(line.rstrip() for line in done.stdout.rstrip().splitlines())


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []
