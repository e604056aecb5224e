"""Fixtures of the tests with real gateways: one control plane, and one fleet with two deployments for all of them."""

from collections.abc import Iterator

import pytest

from e2e.fleet import SOON
from e2e.planes import print_figures, running_plane
from e2e.scenarios import FIGURES, own_fleet
from gateways.live import SITES, LiveFleet, live_fleet
from gateways.streams import Stream, silent
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []
    config.addinivalue_line("markers", "last: waits for what began with the session, after all other tests")


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


@pytest.fixture(scope="session")
def quiet_provider(fleet_with_gateways: LiveFleet) -> LiveFleet:
    """Run the provider that no test stops; return the fleet."""
    fleet_with_gateways.gateways.run_quiet_provider()
    return fleet_with_gateways


@pytest.fixture(scope="session", autouse=True)
def silent_stream(request: pytest.FixtureRequest) -> Iterator[Stream | None]:
    """Begin the stream that is silent for minutes before any test runs, if one waits for its end."""
    if not any(map(_waits, request.session.items)):
        yield None
        return
    with silent(request.getfixturevalue("quiet_provider")) as stream:
        yield stream


def _waits(item: pytest.Item) -> bool:
    return item.get_closest_marker("last") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_waits)


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
