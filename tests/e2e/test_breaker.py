"""What a settled fleet and a large start cost, and that no circuit breaker of Crossplane opens."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from e2e.breakers import judged
from e2e.fleet import SOON, Fleet
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.requests import RequestKind, now, requests, table
from modelplane_dev.plane.waiting import eventually

#: Deployments of the settled fleet, and the seconds of a watch: those after which each is looked at again.
SETTLED, WATCHED = 12, 60.0
#: Seconds within which all looks after the start are over, on a busy machine of two cores, and between two counts.
CALM, PULSE = 600.0, 15.0
#: Most requests a minute that a settled deployment of one replica may cost on the control cluster.
COST = 20.0
#: Seconds after which a restarted Crossplane has looked at everything, and provider-kubernetes has answered.
RESTARTED = 20.0
#: Replicas of the deployment that starts: six times those that use up what a breaker allows by default.
STARTING = 30


@contextmanager
def default_settings(plane: ControlPlane) -> Iterator[None]:
    """Run Crossplane with the settings of its circuit breaker that it has by itself."""
    usual = plane.processes["crossplane"]
    usual.stop()
    try:
        with plane.core.start():
            yield
    finally:
        usual.start()


def _of_deployments(found: Counter[RequestKind], fleet: Fleet) -> Counter[RequestKind]:
    """Return the requests that are for the scenario's deployments: in its namespace, and what those look up."""

    def looked_up(asked: RequestKind) -> bool:
        return asked.user == "modelplane-provider-kubernetes" and asked.resource == "inferenceclusters"

    chosen = {asked: count for asked, count in found.items() if asked.namespace == fleet.tag or looked_up(asked)}
    # What the test itself asks is no cost.
    return Counter({asked: count for asked, count in chosen.items() if asked.user != "admin"})


def _each(found: Counter[RequestKind]) -> float:
    """Return how many of the requests of a watch a minute has, for each deployment."""
    return found.total() / (WATCHED / 60) / SETTLED


def _wait_settled(fleet: Fleet) -> Counter[RequestKind]:
    """Return the requests of the first watch in which the deployments cost no more than they may.

    How long it takes until all looks after the start are over depends on the machine; what they cost then does not.
    """
    log, began = fleet.plane.hub.audit_log, now()

    def settled() -> Counter[RequestKind]:
        ends = now()
        assert ends - began >= timedelta(seconds=WATCHED)
        found = _of_deployments(requests(log, ends - timedelta(seconds=WATCHED), ends), fleet)
        assert _each(found) <= COST, "\n".join(table(found, rows=12, minutes=WATCHED / 60))
        return found

    return eventually(settled, within=CALM, every=PULSE)


def _assert_looked(plane: ControlPlane) -> None:
    try:
        assert judged(plane, "events")
    except OSError as error:
        raise AssertionError(f"Crossplane has no metrics yet: {error}") from error


@pytest.mark.alone
def test_a_settled_fleet_asks_little_of_the_control_cluster_and_survives_a_restart_without_an_open_breaker(
    fleet: Fleet,
) -> None:
    fleet.add_cluster("east", nodes=2)
    names = [f"d{number}" for number in range(SETTLED)]
    for name in names:
        fleet.deploy(name)
    for name in names:
        fleet.wait_ready(name)
    found = _wait_settled(fleet)
    each = _each(found)
    fleet.figures.append(f"{SETTLED} settled deployments: {each:.1f} requests a minute each on the control cluster")
    fleet.figures += table(found, rows=12, minutes=WATCHED / 60)
    with default_settings(fleet.plane):
        eventually(lambda: _assert_looked(fleet.plane), within=SOON)
        time.sleep(RESTARTED)
        assert judged(fleet.plane, "opens") == {}
    assert [fleet.counts(name) for name in names] == [(1, 1)] * SETTLED


@pytest.mark.alone
def test_many_replicas_that_start_at_once_open_no_breaker(fleet: Fleet) -> None:
    fleet.add_cluster("west", nodes=4)
    before, began, started = judged(fleet.plane, "events"), now(), time.monotonic()
    fleet.deploy("large", replicas=STARTING)
    fleet.wait_counts("large", total=STARTING, ready=STARTING)
    seconds = time.monotonic() - started
    asked = requests(fleet.plane.hub.audit_log, began, now()).total()
    events = {kind: count - before.get(kind, 0) for kind, count in judged(fleet.plane, "events").items()}
    counted = events["composite/modeldeployments.modelplane.ai"]
    fleet.figures.append(
        f"{STARTING} replicas of one deployment: ready after {seconds:.0f} s, {asked} requests to the control cluster, "
        f"{counted:.0f} events of the deployment's breaker"
    )
    assert judged(fleet.plane, "opens") == {}
