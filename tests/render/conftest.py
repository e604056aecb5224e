"""Fixtures of the tests on the real engine: the small test functions as processes."""

from collections.abc import Iterator

import pytest

from modelplane_dev.processes.functions import Functions
from render.scene import serve_command


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """Run the small test functions of `render.steps`: one process each for the whole session."""
    with Functions(logs=tmp_path_factory.mktemp("steps"), command=serve_command) as running:
        yield running
