"""Fixtures of the tests with real gateways: one control plane, and one fleet with two deployments for all of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from e2e import scenes
from e2e.planes import print_figures, running_plane
from e2e.scenarios import FIGURES, own_fleet
from gateways.live import SERVED, SITES, STAYS, LiveFleet, live_fleet
from gateways.streams import Stream, silent
from modelplane_dev.plane.control_plane import ControlPlane
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
        fleet.deploy("canary", engines=[_serving_as(SERVED["canary"], SERVED["llama"])], tolerations=[STAYS])
        fleet.wait_counts("canary", total=1, ready=1)
        fleet.deploy("llama", engines=[_serving_as(SERVED["llama"])], replicas=len(SITES), tolerations=[STAYS])
        running.spread("llama")
        yield running


def _serving_as(*names: str) -> dict[str, Any]:
    made = scenes.engine(1)
    (container,) = made["members"][0]["template"]["spec"]["containers"]
    container["args"] += ["--lora-modules", "adapter=/adapter", "--served-model-name", *names]
    return made


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


@pytest.fixture(scope="session")
def started_engines() -> dict[str, Process]:
    """Hold the engines of the session by their pods' names; who needs them has those started that do not run."""
    return {}


@pytest.fixture
def engines(live: LiveFleet, started_engines: dict[str, Process]) -> dict[str, Process]:
    """Run an engine in each pod, once each cluster has one replica of `llama`; return them by the pods' names."""
    live.run_engines(started_engines)
    return started_engines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    print_figures(terminalreporter, config)
