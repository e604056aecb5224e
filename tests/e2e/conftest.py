"""Fixtures of the end-to-end tests: one control plane for all of them, and a fleet described in few words."""

from collections.abc import Iterator

import click
import pytest
from _pytest.capture import CaptureManager

from e2e.fleet import SOON, Fleet
from e2e.scenarios import FIGURES, MARKERS, Scenarios, is_scenario, order, own_fleet
from e2e.scenes import gpu_class
from modelplane_dev.plane.control_plane import INFERENCE_CLASS, ControlPlane, control_plane
from modelplane_dev.plane.waiting import eventually

#: Seconds to wait for the end of another control plane on this machine: for its tests.
QUEUE = 1800.0
#: The inference clusters. Only tests that take it for themselves use the last.
SITES = ("east", "west", "north")
_SCENARIOS = pytest.StashKey[Scenarios]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = order(items)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """Run a control cluster and the inference clusters; pytest keeps the folder with the logs."""
    folder = tmp_path_factory.mktemp("e2e")
    _tell(pytestconfig, f"The logs are in {folder}. Where `make up` runs, this waits for its end.")
    with control_plane(folder, sites=SITES, queue=QUEUE) as running:
        first = running.hub.api.apply(gpu_class("first"))

        def ready() -> None:
            found = running.hub.api.get(INFERENCE_CLASS, first["metadata"]["name"]) or {}
            Fleet.assert_condition(found, "Ready")

        eventually(ready, within=SOON)
        running.timeline.mark("a composite is Ready")
        _tell(pytestconfig, str(running.timeline))
        yield running


@pytest.fixture(scope="session", autouse=True)
def scenarios(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start the scenarios of the session, beside which its other tests run."""
    items = [item for item in request.session.items if is_scenario(item)]
    if not items:
        yield
        return
    with Scenarios(request.getfixturevalue("plane"), items) as running:
        request.config.stash[_SCENARIOS] = running
        yield
    for name, seconds in running.seconds.items():
        request.config.stash[FIGURES].append(f"{seconds:5.0f} s  {name}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Wait for a scenario instead of calling its function, which runs already."""
    if not is_scenario(pyfuncitem):
        return None
    pyfuncitem.config.stash[_SCENARIOS].wait(pyfuncitem)
    return True


@pytest.fixture
def fleet(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Fleet | None]:
    """Give a test a fleet of its own; a scenario has it already."""
    if is_scenario(request.node):
        yield None
        return
    with own_fleet(plane, request.node) as mine:
        yield mine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[FIGURES]:
        terminalreporter.write_line(line)


def _tell(config: pytest.Config, text: str) -> None:
    """Print something at once, also when all tests pass."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    with capture.global_and_fixture_disabled():
        click.echo(f"\n{text}", err=True)
