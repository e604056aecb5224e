"""Fixtures of the tests with real gateways: one control plane, and one fleet with two deployments for all of them."""

from collections.abc import Iterator

import pytest

from e2e.fleet import SOON
from e2e.planes import print_figures, running_plane
from e2e.scenarios import FIGURES, own_fleet
from gateways.live import SITES, LiveFleet, live_fleet
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """Run the control plane of all tests."""
    with running_plane(pytestconfig, tmp_path_factory.mktemp("gateways"), SITES) as running:
        yield running


@pytest.fixture(scope="session")
def fleet_with_gateways(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[LiveFleet]:
    """Run the gateways, and two replicas of the deployment `llama` and one of `canary`."""
    with own_fleet(plane, request.session) as fleet, live_fleet(fleet) as running:
        fleet.deploy("llama", replicas=2)
        fleet.deploy("canary")
        fleet.wait_counts("llama", total=2, ready=2)
        fleet.wait_counts("canary", total=1, ready=1)
        yield running


@pytest.fixture
def live(fleet_with_gateways: LiveFleet) -> Iterator[LiveFleet]:
    """Give a test the fleet; the services that it makes are gone afterwards."""
    yield fleet_with_gateways
    fleet_with_gateways.forget_services()


@pytest.fixture
def engines(live: LiveFleet) -> Iterator[dict[str, Process]]:
    """Run an engine in each pod, once each cluster has one replica of `llama`; return them by the pods' names."""
    eventually(lambda: live.assert_spread("llama"), within=SOON)
    running = live.run_engines()
    yield running
    for engine in running.values():
        engine.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    print_figures(terminalreporter, config)
