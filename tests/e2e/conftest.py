"""Fixtures of the end-to-end tests: one control plane for all of them, and a fleet described in few words."""

from collections.abc import Iterator

import pytest

from e2e.fleet import Fleet
from e2e.planes import print_figures, running_plane
from e2e.scenarios import FIGURES, MARKERS, Scenarios, is_scenario, order, own_fleet
from modelplane_dev.plane.control_plane import ControlPlane

#: The inference clusters. Only tests that take one of them for themselves use the last two.
SITES = ("east", "west", "north", "south")
_SCENARIOS = pytest.StashKey[Scenarios]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = []
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = order(items)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Run the control plane of all tests."""
    sites = SITES if any(map(is_scenario, request.session.items)) else SITES[:2]
    with running_plane(request.config, tmp_path_factory.mktemp("e2e"), sites, shared=True) as running:
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
    """Give a test a fleet of its own, once those before are gone; a scenario has it already."""
    if is_scenario(request.node):
        yield None
        return
    with own_fleet(plane, request.node) as mine:
        mine.wait_alone()
        yield mine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    print_figures(terminalreporter, config)
