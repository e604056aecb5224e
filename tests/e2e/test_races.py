"""Deployments that want the same room at the same moment."""

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane_dev.plane.waiting import eventually


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
