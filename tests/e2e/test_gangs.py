"""Engines of a leader and workers: LeaderWorkerSet makes their pods, the scheduler binds them."""

import pytest

from e2e.fleet import Fleet
from e2e.scenes import engine


# Kimi's gangs are tested each time (test_catalogue).
@pytest.mark.soak
def test_the_pods_of_a_gang_sit_on_distinct_nodes_each_with_its_claim(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east", nodes=4)
    fleet.deploy("big", engines=[engine(8, workers=1, copies=2)])
    fleet.wait_ready("big")
    pods = fleet.pods(cluster)
    assert len(pods) == 4
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
    assert [len(claim["status"]["allocation"]["devices"]["results"]) for claim in fleet.claims(cluster)] == [8] * 4
