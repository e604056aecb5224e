"""Deployments that want the same room at the same moment."""

import time
from collections import Counter
from datetime import timedelta

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.plane.api import condition
from modelplane_dev.plane.control_plane import DEPLOYMENT
from modelplane_dev.plane.requests import RequestKind, now, requests
from modelplane_dev.plane.waiting import eventually

#: Clusters of one node of 8 GPUs, the places on them, and the deployments of one GPU that want one.
CLUSTERS, PLACES, WANTED = 2, 16, 18
#: Seconds for which nothing moves once all is placed, and between two looks at that.
QUIET, PULSE = 20.0, 2.0


# Many that race are tested each time, below.
@pytest.mark.soak
def test_of_two_deployments_that_race_for_the_last_node_exactly_one_is_placed(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=1)
    racers = ("first", "second")
    for name in racers:
        fleet.deploy(name, engines=[engine(8)])

    def one_serves() -> str:
        placed = {name: fleet.counts(name) for name in racers}
        assert sorted(placed.values()) == [(0, 0), (1, 1)], placed
        assert [pod["status"]["phase"] for pod in fleet.pods(cluster)] == ["Running"]
        return next(name for name in racers if placed[name] == (0, 0))

    loser = eventually(one_serves, within=SOON)
    fleet.wait_condition(loser, "ReplicasScheduled", "False", "InsufficientCapacity")


def _scheduled(fleet: Fleet) -> Counter[tuple[int, int, str]]:
    """Return how many deployments have so many replicas placed and ready, and such a reason in ReplicasScheduled."""
    listed = fleet.plane.hub.api.list(DEPLOYMENT, fleet.tag)
    counts = [(found.get("status", {}).get("replicas", {}), condition(found, "ReplicasScheduled")) for found in listed]
    return Counter((has.get("total", 0), has.get("ready", 0), said.get("reason", "")) for has, said in counts)


def _deleted(found: Counter[RequestKind], fleet: Fleet) -> int:
    """Return how many ModelReplicas of the scenario were deleted; those of the one before may still be going."""
    ends = ("delete", "modelreplicas", fleet.tag)
    return sum(count for asked, count in found.items() if (asked.verb, asked.resource, asked.namespace) == ends)


@pytest.mark.alone
def test_of_many_deployments_made_at_once_as_many_serve_as_there_is_room_and_no_replica_moves_for_ever(
    fleet: Fleet,
) -> None:
    for cluster in [fleet.begin_cluster("east", suffix=f"-{number}") for number in range(CLUSTERS)]:
        fleet.wait_cluster(cluster)
    log, began, started = fleet.plane.hub.audit_log, now(), time.monotonic()
    for number in range(WANTED):
        fleet.deploy(f"d{number}")

    def decided() -> None:
        found = _scheduled(fleet)
        assert sum(count for (total, _, said), count in found.items() if total or said) == WANTED, found

    def served() -> None:
        found = _scheduled(fleet)
        without = {"InsufficientCapacity": WANTED - PLACES}
        assert {said: count for (total, _, said), count in found.items() if not total} == without, found
        assert sum(count for (total, ready, _), count in found.items() if (total, ready) == (1, 1)) == PLACES, found

    eventually(decided, within=SOON)
    until_decided = time.monotonic() - started
    eventually(served, within=SOON)
    until_served, since = time.monotonic() - started, now()

    def quiet() -> None:
        # A status may lag behind what was placed beyond the room, and gives way yet.
        ends, lasts = now(), timedelta(seconds=QUIET)
        assert ends - since >= lasts
        assert _deleted(requests(log, ends - lasts, ends), fleet) == 0

    eventually(quiet, within=SOON, every=PULSE)
    moved = _deleted(requests(log, began, now()), fleet)
    fleet.figures.append(
        f"{WANTED} deployments at once for {PLACES} places: placed or refused after {until_decided:.0f} s, "
        f"all served after {until_served:.0f} s, {moved} replicas gave way"
    )
    assert moved <= WANTED
