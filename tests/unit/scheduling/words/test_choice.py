"""Why a replica is on this cluster and these pools, in one line."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, Profile
from modelplane.model.fleet import Cluster
from modelplane.scheduling.words.choice import MOST, word_choice
from unit.scheduling.scene import Scene, cluster, deployment, gpu, memory, nic, pool, request, stamped, standalone
from unit.scheduling.scene import replica as existing

HALF = standalone(request(4))
LARGE, SMALL = (
    standalone(request(8, memory(size)), name=name) for size, name in (("100Gi", "large"), ("20Gi", "small"))
)


def of_profiles(*clusters: Cluster) -> tuple[list[Cluster], Deployment]:
    profiles = tuple(Profile((engine,), name=engine.name, content=engine.name) for engine in (LARGE, SMALL))
    return [*clusters], replace(deployment(), profiles=profiles)


CASES: dict[str, tuple[tuple[list[Cluster], Deployment], str, str]] = {
    "the only one": (
        ([cluster("a", pool(3))], deployment()),
        "a",
        "the only candidate that takes it; pool x, first in order with room; 0 other replicas of the deployment there; "
        "640Gi of device memory; room for 3 replicas",
    ),
    "profile": (
        of_profiles(cluster("a", pool(9)), cluster("b", pool(1, gpu(8, 140)))),
        "b",
        "before a: a better profile than small; profile large (1 of 2); ",
    ),
    "gangs": (
        ([cluster("a", pool(2, gpu(), nic())), cluster("b", pool(1))], deployment(HALF)),
        "b",
        "before a: no gang could use a node of it whole; ",
    ),
    "capability": (
        ([cluster("a", pool(9)), cluster("b", pool(1, gpu(8, 40)))], deployment()),
        "b",
        "before a: smaller devices that suffice, 320Gi against 640Gi; ",
    ),
    "room": (
        ([cluster("a", pool(1)), cluster("b", pool(2))], deployment()),
        "b",
        "before a: more room, for 2 against 1; ",
    ),
    "unknown memory": (
        ([cluster("a", pool(1, replace(gpu(), capacity=())))], deployment()),
        "a",
        "the only candidate that takes it; pool x, first in order with room; 0 other replicas of the deployment there; "
        "an unknown amount of device memory; room for 1 replica",
    ),
    "the second pool": (
        ([cluster("a", pool(1, gpu(4), name="first"), pool(1, name="second"))], deployment()),
        "a",
        "the only candidate that takes it; pool second, first in order with room; ",
    ),
}


@pytest.mark.parametrize(("given", "where", "why"), CASES.values(), ids=CASES)
def test_it_names_what_decided_against_the_next_cluster_and_the_figures(
    given: tuple[list[Cluster], Deployment], where: str, why: str
) -> None:
    clusters, one = given
    (placed,) = Scene(clusters).decide(one).placements
    assert (placed.cluster, word_choice(placed)[: len(why)]) == (where, why)


def test_spread_names_how_many_replicas_each_of_the_two_clusters_has() -> None:
    one = deployment(replicas=2)
    scene = Scene([cluster("a", pool(9)), cluster("b", pool(2))], [existing(one, "a/0", stamped())])
    (placed,) = (each for each in scene.decide(one).placements if each.replica is None)
    assert placed.cluster == "b"
    assert word_choice(placed).startswith("before a: fewer replicas of the deployment, 0 against 1; ")


def test_of_two_clusters_that_are_alike_it_says_that_a_hash_decided() -> None:
    (placed,) = Scene([cluster("a", pool(1)), cluster("b", pool(1))]).decide(deployment()).placements
    assert "alike, and first by a hash of the names; " in word_choice(placed)


def test_a_replica_that_exists_is_not_explained_anew() -> None:
    one = deployment()
    scene = Scene([cluster("a", pool(2))])
    scene.run(one)
    assert [word_choice(each) for each in scene.decide(one).placements] == [""]


def test_it_is_no_longer_than_the_status_takes() -> None:
    name = "n" * 63
    pools = [pool(1, gpu(8), name=f"{at}{name}"[:63]) for at in range(4)]
    one = deployment(*(standalone(request(8), name=f"engine-{at}") for at in range(4)))
    (placed,) = Scene([cluster(name, *pools)]).decide(one).placements
    assert len(word_choice(placed)) == MOST
