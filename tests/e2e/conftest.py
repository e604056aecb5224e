"""Fixtures of the end-to-end tests: one control plane for all of them, and a fleet described in few words."""

import hashlib
from collections.abc import Iterator

import click
import pytest

from e2e.fleet import SOON, Fleet
from e2e.harness.control_plane import INFERENCE_CLASS, ControlPlane, control_plane
from e2e.harness.process import eventually
from e2e.scenes import gpu_class


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Run a control cluster and two inference clusters, east and west; pytest keeps the folder with the logs."""
    with control_plane(tmp_path_factory.mktemp("e2e"), sites=("east", "west")) as running:
        first = running.hub.api.apply(gpu_class("first"))

        def ready() -> None:
            found = running.hub.api.get(INFERENCE_CLASS, first["metadata"]["name"]) or {}
            Fleet.assert_condition(found, "Ready")

        eventually(ready, within=SOON)
        running.timeline.mark("a composite is Ready")
        click.echo(f"\n{running.timeline}", err=True)
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
