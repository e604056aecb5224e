"""What a settled fleet and a large start cost, with Crossplane's circuit breaker at its default settings."""

import re
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.fleet import Fleet
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.control_plane import ControlPlane

#: Deployments of the settled fleet, and the seconds for which it is watched.
SETTLED, WATCHED = 20, 60.0
#: Replicas of the deployment that starts. A breaker that opens stays open for 300 seconds: longer than they are waited
#: for, so that none of them has stayed behind one.
STARTING = 30


@contextmanager
def default_settings(plane: ControlPlane) -> Iterator[None]:
    """Run Crossplane with the settings of its circuit breaker that an installation has."""
    usual = plane.processes["crossplane"]
    usual.stop()
    try:
        with plane.core.start():
            yield
    finally:
        usual.start()


def requests(cluster: Cluster) -> float:
    """Return how many requests an API server has answered."""
    text = cluster.api.text("/metrics")
    return sum(float(value) for value in re.findall(r"^apiserver_request_total\{.*\} (\S+)$", text, re.MULTILINE))


def judged(plane: ControlPlane, what: str) -> dict[str, float]:
    """Return how many "opens" or "events" of breakers Crossplane has counted since it started, by controller."""
    url = f"http://127.0.0.1:{plane.core.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    pattern = rf'^circuit_breaker_{what}_total\{{controller="([^"]+)".*\}} (\S+)$'
    for controller, count in re.findall(pattern, text, re.MULTILINE):
        found[controller] = found.get(controller, 0) + float(count)
    return found


@pytest.mark.alone
def test_a_settled_fleet_opens_no_breaker_and_asks_little_of_the_api_servers(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=3)
    names = [f"d{number}" for number in range(SETTLED)]
    for name in names:
        fleet.deploy(name)
    for name in names:
        fleet.wait_ready(name)
    servers = {"control": fleet.plane.hub, "inference": fleet.clusters[cluster].cluster}
    with default_settings(fleet.plane):
        before = {name: requests(server) for name, server in servers.items()}
        time.sleep(WATCHED)
        load = {name: (requests(server) - before[name]) / (WATCHED / 60) for name, server in servers.items()}
        opened = judged(fleet.plane, "opens")
        assert judged(fleet.plane, "events")
    words = ", ".join(f"{count:.0f} a minute on the {name} cluster" for name, count in load.items())
    fleet.figures.append(f"{SETTLED} settled deployments: requests {words}")
    assert opened == {}
    assert [fleet.counts(name) for name in names] == [(1, 1)] * SETTLED


@pytest.mark.alone
def test_many_replicas_that_start_at_once_are_ready_before_an_open_breaker_closes(fleet: Fleet) -> None:
    fleet.add_cluster("west", nodes=4)
    with default_settings(fleet.plane):
        fleet.deploy("large", replicas=STARTING)
        started = time.monotonic()
        fleet.wait_counts("large", total=STARTING, ready=STARTING)
        seconds = time.monotonic() - started
        opened = judged(fleet.plane, "opens")
    fleet.figures.append(
        f"{STARTING} replicas of one deployment ready after {seconds:.0f} s; breakers that opened: {opened}"
    )
