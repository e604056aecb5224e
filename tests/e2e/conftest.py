"""Fixtures of the end-to-end tests: one control plane for all of them, and a fleet described in few words."""

import hashlib
from collections.abc import Iterator

import click
import pytest
from _pytest.capture import CaptureManager

from e2e.fleet import SOON, Fleet
from e2e.scenes import gpu_class
from modelplane_dev.plane.control_plane import INFERENCE_CLASS, ControlPlane, control_plane
from modelplane_dev.plane.waiting import eventually

#: Seconds to wait for the end of another control plane on this machine: for its tests.
QUEUE = 1800.0


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """Run a control cluster and two inference clusters, east and west; pytest keeps the folder with the logs."""
    folder = tmp_path_factory.mktemp("e2e")
    _tell(pytestconfig, f"The logs are in {folder}. Where `make up` runs, this waits for its end.")
    with control_plane(folder, sites=("east", "west"), queue=QUEUE) as running:
        first = running.hub.api.apply(gpu_class("first"))

        def ready() -> None:
            found = running.hub.api.get(INFERENCE_CLASS, first["metadata"]["name"]) or {}
            Fleet.assert_condition(found, "Ready")

        eventually(ready, within=SOON)
        running.timeline.mark("a composite is Ready")
        _tell(pytestconfig, str(running.timeline))
        yield running


@pytest.fixture
def fleet(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """Give a test clusters, nodes and a namespace of its own; everything is gone afterwards."""
    digest = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:6]
    mine = Fleet(plane, tag=f"t{digest}")
    mine.open()
    yield mine
    mine.close()
    mine.assert_status_is_kept()


def _tell(config: pytest.Config, text: str) -> None:
    """Print something at once, also when all tests pass."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    with capture.global_and_fixture_disabled():
        click.echo(f"\n{text}", err=True)
