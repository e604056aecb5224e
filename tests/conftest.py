"""Fixtures of all tests: golden files, and the composition functions as processes."""

from collections.abc import Iterator

import pytest

from golden import Golden
from modelplane_dev.processes.functions import Functions


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that compare with golden files: `make golden` runs them."""
    for item in items:
        if "golden" in getattr(item, "fixturenames", ()):
            item.add_marker("golden")


@pytest.fixture(scope="session")
def golden() -> Golden:
    """Compare with golden files, or rewrite them."""
    return Golden.of_environment()


@pytest.fixture(scope="session")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """Run our functions as Crossplane does: one process each for the whole session."""
    with Functions(logs=tmp_path_factory.mktemp("functions")) as running:
        yield running
