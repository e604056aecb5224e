"""What `make soak` runs, and nothing else does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelplane_dev.folders import ROOT

MARKED = """
import pytest

@pytest.mark.soak
def test_at_length():
    pass

def test_each_time():
    pass
"""


@pytest.mark.parametrize(("added", "ran"), [({}, "1 passed, 1 deselected"), ({"MODELPLANE_SOAK": "1"}, "2 passed")])
def test_a_test_that_is_marked_soak_runs_only_where_make_soak_says_so(
    added: dict[str, str], ran: str, tmp_path: Path
) -> None:
    file = tmp_path / "test_marked.py"
    file.write_text(MARKED)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MODELPLANE_"))}
    environment |= added | {"PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-c", str(ROOT / "pyproject.toml"), str(file)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran in done.stdout, done.stdout
