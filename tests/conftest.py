"""Fixtures of all tests: the composition functions as processes, started when a test first needs one."""

from collections.abc import Iterator

import pytest

from modelplane_dev.processes.functions import Functions


@pytest.fixture(scope="session")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """Run our functions as Crossplane does: one process each for the whole session."""
    with Functions(logs=tmp_path_factory.mktemp("functions")) as running:
        yield running
