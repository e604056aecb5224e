"""Fixtures of the tests on clusters that are brought: a control plane of their own, and the gateway of its fleet."""

from collections.abc import Iterator

import pytest

from e2e.planes import print_figures, running_plane
from e2e.scenarios import FIGURES
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.gateways.live import LiveGateways, live_gateways


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """Run a control plane without inference clusters: a test brings its own."""
    with running_plane(pytestconfig, tmp_path_factory.mktemp("brought"), ()) as running:
        yield running


@pytest.fixture(scope="session")
def gateways(plane: ControlPlane) -> Iterator[LiveGateways]:
    """Run the gateway of the control cluster."""
    with live_gateways(plane, ()) as running:
        running.open_public()
        running.open_router()
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    print_figures(terminalreporter, config)
