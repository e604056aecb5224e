"""Pods count as room, so that what takes no device is placed only where a node runs one pod more."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, Engine, Member, Role
from modelplane.model.fleet import ClaimKind, Pool
from modelplane.model.replica import StampedEngine, StampedMember
from modelplane.scheduling.pools.groups import Group, PodSlots
from modelplane.scheduling.room.blocking import Shortage
from modelplane.scheduling.room.room import has_room, shortage
from modelplane.scheduling.words.report import explain
from unit.scheduling.scene import (
    Scene,
    at_once,
    cluster,
    deployment,
    gpu,
    nic,
    places,
    pool,
    replica,
    request,
    standalone,
)


def gang(workers: int, *, gpus: int = 1, copies: int = 1) -> Engine:
    """Return a leader with GPUs and workers that claim nothing."""
    return Engine("main", (Member(Role.LEADER, 1, (request(gpus),)), Member(Role.WORKER, workers, ())), copies)


def running(nodes: int, pods: int) -> Pool:
    return replace(pool(nodes), pods=pods)


def message(scene: Scene, one: Deployment) -> str:
    return explain(scene.decide(one), one).message


@pytest.mark.proves("R20")
@pytest.mark.parametrize(
    ("there", "engine", "fit"),
    [
        (pool(3), gang(63), 4),
        (pool(2), gang(63), 3),
        (pool(1), gang(99), 1),
        (pool(1), gang(100), 0),
        (running(1, 110), gang(100), 1),
        (running(2, 10), gang(9), 2),
        (running(2, 10), gang(4, copies=2), 1),
        (running(2, 10), gang(19), 1),
        (running(2, 10), gang(20), 0),
        (running(2, 4), gang(7), 1),
        (pool(1, gpu(), nic(1000)), gang(99), 1),
        (pool(1, gpu(), nic(1000, ClaimKind.DRA)), gang(99), 1),
    ],
)
def test_as_many_gangs_are_placed_as_the_nodes_run_pods(there: Pool, engine: Engine, fit: int) -> None:
    scene = Scene([cluster("a", there)])
    assert len(scene.decide(deployment(engine, replicas=8)).placements) == fit


@pytest.mark.proves("R20")
def test_pods_that_claim_are_as_many_as_devices_whatever_a_node_runs_beside_them() -> None:
    scene = Scene([cluster("a", running(40, 9))])
    one = deployment(standalone(request(1)), replicas=400)
    assert len(scene.decide(one).placements) == 320


def test_pods_that_may_fill_a_node_leave_it_to_no_one_else() -> None:
    scene = Scene([cluster("a", running(2, 20))])
    scene.run(deployment(gang(30), name="first"))
    assert scene.decide(deployment(name="second")).unplaced == 1
    assert Scene([cluster("a", running(3, 20))]).decide(deployment(name="second")).unplaced == 0


def test_a_pool_whose_slots_are_taken_says_how_many_are_free_and_who_holds_them() -> None:
    scene = Scene([cluster("a", pool(3))])
    scene.run(deployment(gang(63), name="first", replicas=4))
    found = message(scene, deployment(gang(63), name="second")).replace("uid-team-", "")
    assert "pool x: no room for engine main: needs slots for 63 pods without devices, 43 free" in found
    assert "held by first" in found


@pytest.mark.proves("R20")
def test_a_serving_replica_keeps_its_pods_where_the_pool_runs_fewer_and_nothing_is_placed_beside_it() -> None:
    one = deployment(gang(63))
    scene = Scene([cluster("a", pool(1))])
    scene.run(one)
    scene.serve()
    scene.change("a", pools=(running(1, 32),))
    decided = scene.decide(one)
    assert (places(decided), decided.ending, decided.too_small) == (["a/0"], (), ())
    assert scene.decide(deployment(standalone(request(1)), name="second")).unplaced == 1


def test_an_edit_that_takes_more_pods_than_are_left_is_withheld() -> None:
    one = at_once(deployment(gang(40)))
    scene = Scene([cluster("a", pool(1))])
    scene.run(one)
    scene.serve()
    (held,) = scene.decide(at_once(deployment(gang(120)))).placements
    assert held.engines[0].members[1].pods == 40
    (grown,) = scene.decide(at_once(deployment(gang(99)))).placements
    assert grown.engines[0].members[1].pods == 99


@pytest.mark.proves("R20")
def test_a_replica_by_hand_that_claims_nothing_yields_to_all_before_it() -> None:
    idle = StampedEngine("main", (StampedMember(Role.STANDALONE, "x", 1, ()),), copies=64)
    first, second = replica(None, "a/7", idle, age=2, serves=False), replica(None, "a/8", idle, age=1, serves=False)
    scene = Scene([cluster("a", pool(1))], [first, second])
    assert places(scene.decide(deployment(gang(35)))) == ["a/0"]
    assert scene.decide(deployment(gang(36))).unplaced == 1


WORKER: Group = (((), 4), (((1, 1),), 1))


def test_pods_that_may_fill_a_node_are_a_shortage_for_a_pod_of_each_node_though_all_slots_suffice() -> None:
    deviceless, on_each_node = (((), 4),), ((((1, 1),), 4),)
    groups = ((deviceless, 1), (on_each_node, 1))
    # Four nodes of two pods: two of the four pods without devices may take both slots of a node.
    assert shortage(4, (1,), groups, PodSlots(2, 1)) == Shortage(4, 1)
    assert shortage(4, (1,), groups, PodSlots(8, 1)) is None


@pytest.mark.parametrize(("claiming", "nodes", "fit"), [(8, 1, 2), (8, 2, 4), (64, 1, 2), (64, 3, 6)])
def test_gangs_fill_nodes_whether_or_not_these_have_more_devices_than_they_run_pods(
    claiming: int, nodes: int, fit: int
) -> None:
    slots = PodSlots(10, claiming)
    assert has_room(nodes, (claiming,), ((WORKER, fit),), slots)
    assert not has_room(nodes, (claiming,), ((WORKER, fit + 1),), slots)
