"""Clusters that do not publish what runs there are read in turn, so that one with room is found behind any others."""

from dataclasses import replace

import pytest

from modelplane.lru import Lru
from modelplane.model.deployment import Deployment
from modelplane.observed.deployment import read_deployment
from modelplane.schedule import found_full
from modelplane.schedule.found_full import reading_order
from modelplane.step import Object
from unit.schedule.objects import Server, cluster, deployment, replica, run

#: Clusters with so many replicas each that a pass reads six of them.
MANY, REPLICAS = 40, 1_400
#: As many passes as read all of them, and one more.
PASSES = 8


def empty(name: str) -> Object:
    """Return a cluster with room that does not publish so."""
    return cluster(name, status={"replicas": REPLICAS})


def silent(name: str) -> list[Object]:
    """Return a full cluster that does not publish so."""
    return [empty(name), replica(name, owner="other")]


def fleet(*free: int) -> Server:
    """Return clusters that publish nothing, all full but some."""
    full = [obj for number in range(MANY) if number not in free for obj in silent(f"silent-{number:02}")]
    return Server(*full, *(empty(f"silent-{number:02}") for number in free))


def clusters_of(composite: Object, server: Server) -> list[str]:
    result, _ = run(composite, server)
    return [placed["cluster"] for placed in result.status["placements"]]


def read(composite: Object) -> Deployment:
    found = read_deployment(composite)
    assert isinstance(found, Deployment)
    return found


@pytest.mark.proves("R5")
@pytest.mark.parametrize("free", range(0, MANY, 4))
def test_the_one_cluster_with_room_is_found_behind_any_number_that_publish_nothing(free: int) -> None:
    composite, server = deployment(f"seeks-{free}"), fleet(free)
    passes = (clusters_of(composite, server) for _ in range(PASSES))
    assert next(filter(None, passes), []) == [f"silent-{free:02}"]
    assert not reading_order(read(composite))


@pytest.mark.proves("R5")
def test_room_that_becomes_free_on_a_full_cluster_is_found() -> None:
    composite = deployment("seeks-again")
    assert [clusters_of(composite, fleet()) for _ in range(PASSES)] == [[]] * PASSES
    assert len(reading_order(read(composite))) == MANY
    assert ["silent-22"] in [clusters_of(composite, fleet(22)) for _ in range(PASSES)]


def test_a_cluster_that_was_full_comes_after_one_that_publishes_that_it_has_room() -> None:
    composite = deployment("seeks-told")
    assert clusters_of(composite, Server(*silent("silent"))) == []
    told = cluster("told", memory="141Gi")
    told.body["status"]["gpuPools"][0]["charged"] = ""
    assert clusters_of(composite, Server(*silent("silent"), told)) == ["told"]


@pytest.mark.proves("R5")
def test_once_all_clusters_were_read_and_nothing_changes_passes_become_rarer() -> None:
    composite, server = deployment("waits"), fleet()
    found = [run(composite, server)[0].ttl.total_seconds() for _ in range(PASSES + 4)]
    assert found[-4:] == sorted(found[-4:])
    assert (found[0], found[-1]) == (10, 60)


def test_a_change_on_a_cluster_that_is_read_in_turn_is_a_change() -> None:
    composite = deployment("waits-for-a-change")
    for _ in range(PASSES + 4):
        ttl = run(composite, Server(*silent("a"), *silent("b")))[0].ttl.total_seconds()
    assert ttl == 60
    changed = replica("a", owner="another")
    assert run(composite, Server(empty("a"), changed, *silent("b")))[0].ttl.total_seconds() == 10


def test_where_nothing_is_remembered_reading_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    composite, server = deployment("forgets"), fleet()
    first = run(composite, server)[0].conditions
    monkeypatch.setattr(found_full, "_FULL", Lru(0))
    assert run(composite, server)[0].conditions == first
    assert not reading_order(replace(read(composite), uid="another"))
