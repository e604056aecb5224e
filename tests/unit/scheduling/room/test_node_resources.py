"""CPU and memory that engines ask for beside devices: they count as room, and only where a pool declares them."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, Engine, Member, Role
from modelplane.model.fleet import Pool
from modelplane.model.resources import NOTHING, Resources
from modelplane.scheduling.pools.node_resources import MOST_UNITS, counts_of, demand_of
from modelplane.scheduling.words.report import explain
from unit.scheduling.scene import Scene, at_once, cluster, deployment, places, pool, replica, request, stamped

GI = 2**30


def asking(gib: int, cpu: int = 0, *, gpus: int = 1, copies: int = 1) -> Engine:
    member = Member(Role.STANDALONE, 1, (request(gpus),), Resources(cpu * 1000, gib * GI))
    return Engine("main", (member,), copies)


def declaring(nodes: int, gib: int, cpu: int = 0, name: str = "x") -> Pool:
    return replace(pool(nodes, name=name), node=Resources(cpu * 1000, gib * GI))


def message(scene: Scene, one: Deployment) -> str:
    return explain(scene.decide(one), one).message


@pytest.mark.parametrize("node", [Resources(192_000, 2000 * GI), Resources(3920, 7 * GI), Resources(1, 1), NOTHING])
def test_a_node_is_counted_in_few_units_and_never_in_more_than_it_has(node: Resources) -> None:
    assert all(count <= MOST_UNITS for count in counts_of(node))
    assert len(counts_of(node)) == (0 if node == NOTHING else 2)
    assert demand_of(node, node) == tuple((count, count) for count in counts_of(node))


@pytest.mark.parametrize("asked", [Resources(8000, 64 * GI), Resources(500, GI // 2)])
def test_what_is_commonly_asked_for_is_a_whole_number_of_units(asked: Resources) -> None:
    assert all(surely == most for surely, most in demand_of(asked, Resources(192_000, 2000 * GI)))


@pytest.mark.parametrize(
    ("node", "each", "fit"), [(64, 12, 5), (64, 16, 4), (64, 64, 1), (1000, 200, 5), (2000, 333, 6)]
)
def test_alike_pods_fill_a_nodes_memory_exactly(node: int, each: int, fit: int) -> None:
    scene = Scene([cluster("a", declaring(1, node))])
    assert len(scene.decide(deployment(asking(each), replicas=8)).placements) == fit


@pytest.mark.proves("R21")
def test_pods_of_a_replica_that_ask_for_memory_have_a_node_each() -> None:
    scene = Scene([cluster("a", declaring(2, 64))])
    leader = Member(Role.LEADER, 1, (), Resources(memory=GI))
    worker = Member(Role.WORKER, 2, (request(8),))
    assert scene.decide(deployment(Engine("main", (leader, worker)))).unplaced == 1
    assert scene.decide(deployment(Engine("main", (replace(leader, asked=NOTHING), worker)))).unplaced == 0


def test_an_engine_that_asks_is_not_placed_where_the_pool_declares_nothing() -> None:
    scene = Scene([cluster("a", pool(1))])
    assert message(scene, deployment(asking(64))).startswith(
        "0 of 1 replicas scheduled: 0/1 clusters can take another: 1 has no pool that fits (pool x: engine "
        "main needs 64Gi memory on a node, and nodePools[].node.memory of the InferenceCluster does not say what a "
        "node has)"
    )


def test_nor_where_a_node_has_less() -> None:
    scene = Scene([cluster("a", declaring(1, 48, cpu=4))])
    assert "pool x: engine main needs 64Gi memory on a node, which has 48Gi" in message(scene, deployment(asking(64)))
    assert "pool x: engine main needs 4500m cpu on a node, which has 4" in message(
        scene, deployment(Engine("main", (Member(Role.STANDALONE, 1, (request(1),), Resources(4500)),)))
    )


def test_a_pool_whose_memory_is_taken_says_how_much_is_free() -> None:
    scene = Scene([cluster("a", declaring(1, 64))])
    scene.run(deployment(asking(52), name="first"))
    found = message(scene, deployment(asking(64), name="second"))
    assert "pool x: no room for engine main: needs 64Gi memory on a node, 12Gi free" in found
    assert "held by first" in found.replace("uid-team-", "")


def test_where_devices_are_short_too_the_nodes_are_counted() -> None:
    scene = Scene([cluster("a", declaring(1, 64))])
    scene.run(deployment(asking(52, gpus=8), name="first"))
    assert "needs 1 node, 0 free" in message(scene, deployment(asking(64), name="second"))


def test_clusters_that_lack_memory_alike_are_counted_together() -> None:
    scene = Scene([cluster("a", declaring(1, 64)), cluster("b", declaring(1, 64))])
    scene.run(deployment(asking(40), name="first", replicas=1))
    scene.run(deployment(asking(60), name="second", replicas=1))
    found = message(scene, deployment(asking(64), name="third"))
    assert "pool x: no room for engine main: needs 64Gi memory on a node, at most 24Gi free" in found


@pytest.mark.proves("R21")
def test_an_engine_that_requests_no_memory_is_placed_beside_any_requests() -> None:
    scene = Scene([cluster("a", declaring(1, 64))])
    scene.run(deployment(asking(64), name="first"))
    assert places(scene.decide(deployment(Engine("main", (Member(Role.STANDALONE, 1, (request(7),)),))))) == ["a/0"]


def test_an_edit_that_asks_for_more_memory_than_is_free_is_withheld() -> None:
    one = deployment(asking(40))
    scene = Scene([cluster("a", declaring(1, 64))])
    scene.run(one)
    scene.serve()
    scene.run(deployment(asking(20), name="second"))
    scene.serve()
    more = deployment(asking(60))
    (held,) = scene.decide(more).placements
    assert held.engines[0].members[0].asked == Resources(memory=40 * GI)


def test_a_pool_that_no_longer_declares_its_nodes_keeps_what_serves_there() -> None:
    one = deployment(asking(40))
    scene = Scene([cluster("a", declaring(1, 64))])
    scene.run(one)
    scene.serve()
    scene.change("a", pools=(pool(1),))
    decided = scene.decide(one)
    assert not decided.ending
    assert [placement.engines for placement in decided.placements] == [scene.replicas["uid-team-model-a-0"].engines]


def test_a_replica_written_by_hand_holds_no_more_of_a_node_than_it_has() -> None:
    engine = stamped(count=1)
    large = replace(engine, members=(replace(engine.members[0], asked=Resources(memory=65 * GI)),))
    scene = Scene([cluster("a", declaring(1, 64))], [replica(None, "a/7", large, serves=False)])
    assert places(scene.decide(deployment(asking(64)))) == ["a/0"]


@pytest.mark.parametrize(("own", "bound"), [(None, 32 * GI), (0, 0), (GI, GI)])
def test_shared_memory_that_nothing_else_bounds_has_half_of_a_declared_node(own: int | None, bound: int) -> None:
    member = Member(Role.STANDALONE, 1, (request(1),), shared_memory=own)
    scene = Scene([cluster("a", declaring(1, 64))])
    (placed,) = scene.decide(deployment(Engine("main", (member,)))).placements
    assert placed.engines[0].members[0].shared_memory == bound


def test_nodes_that_a_pool_declares_later_are_rolled_out_to_shared_memory_without_a_bound() -> None:
    one = at_once(deployment(Engine("main", (Member(Role.STANDALONE, 1, (request(1),)),))))
    scene = Scene([cluster("a", pool(1))])
    scene.run(one)
    scene.serve()
    scene.change("a", pools=(declaring(1, 64),))
    (placed,) = scene.decide(one).placements
    assert placed.engines[0].members[0].shared_memory == 32 * GI
