"""A control plane for the tests of a session, and what is printed of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from _pytest.capture import CaptureManager

from e2e.fleet import SOON, Fleet
from e2e.scenarios import FIGURES
from e2e.scenes import gpu_class
from modelplane_dev.plane.control_plane import INFERENCE_CLASS, ControlPlane, control_plane
from modelplane_dev.plane.waiting import eventually

#: Seconds to wait for the end of another control plane on this machine: for its tests.
QUEUE = 1800.0


@contextmanager
def running_plane(
    config: pytest.Config, folder: Path, sites: Sequence[str], *, shared: bool = False
) -> Iterator[ControlPlane]:
    """Run a control cluster and inference clusters until composites become Ready; pytest keeps the folder's logs.

    `shared`: each test connects InferenceClusters of its own to the sites.
    """
    _tell(config, f"The logs are in {folder}. Where `make up` runs, this waits for its end.")
    with control_plane(folder, sites=sites, queue=QUEUE) as running:
        running.shared_sites = shared
        first = running.hub.api.apply(gpu_class("first"))

        def ready() -> None:
            found = running.hub.api.get(INFERENCE_CLASS, first["metadata"]["name"]) or {}
            Fleet.assert_condition(found, "Ready")

        eventually(ready, within=SOON)
        running.timeline.mark("a composite is Ready")
        _tell(config, str(running.timeline))
        yield running


def print_figures(reporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what the tests have measured."""
    for line in config.stash[FIGURES]:
        reporter.write_line(line)


def _tell(config: pytest.Config, text: str) -> None:
    """Print something at once, also when all tests pass."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    with capture.global_and_fixture_disabled():
        click.echo(f"\n{text}", err=True)
