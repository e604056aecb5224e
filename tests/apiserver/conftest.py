"""Fixtures of the tests on a real API server: one for the whole session, with every kind that is composed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apiserver.rights import rights_installed
from apiserver.server import Server, serve


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run the tests that share the server, where tests run in several: starting it takes long."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("apiserver"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run etcd and kube-apiserver; nothing is written to it but namespaces, definitions and what pages say."""
    with serve(tmp_path_factory.mktemp("apiserver")) as running:
        yield running


@pytest.fixture(scope="module")
def ruled(server: Server) -> Iterator[Server]:
    """Apply the roles and policies of install/ to the server for the tests of one module."""
    with rights_installed(server) as running:
        yield running
