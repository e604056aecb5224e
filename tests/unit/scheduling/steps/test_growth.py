"""Edits of what runs: applied in place where the replica's own pools host them; else the replica is held."""

from dataclasses import dataclass, replace

import pytest

from modelplane.model.deployment import Engine
from modelplane.model.placement import EndCause, Schedule, Stamp
from modelplane.model.refusal import NoRoom
from modelplane.model.replica import Replica
from modelplane.scheduling import explain
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.room.growth import covers, grows
from unit.scheduling.scene import (
    Scene,
    at_once,
    cluster,
    deployment,
    gang,
    gpu,
    memory,
    nodes,
    pool,
    replica,
    request,
    stamped,
    standalone,
)


@dataclass(frozen=True)
class Edit:
    """A replica of one pod of 4 GPUs on a pool of 2 nodes, its new engines, and what else is there."""

    rule: str
    engines: tuple[Engine, ...]
    others: tuple[Replica, ...]
    stamp: Stamp


OTHER = deployment(name="other")
NEIGHBOUR = replica(OTHER, "a/0")
HALF = replica(OTHER, "a/0", stamped(count=4))

EDITS = [
    Edit("the same is applied", (standalone(request(4)),), (NEIGHBOUR,), Stamp.APPLY),
    Edit("less is applied", (standalone(request(2)),), (NEIGHBOUR,), Stamp.APPLY),
    Edit("more that fits without the old pods is applied", (standalone(),), (NEIGHBOUR,), Stamp.APPLY),
    Edit("more copies that fit are applied", (standalone(request(4), copies=2),), (HALF,), Stamp.APPLY),
    Edit("more copies that do not are not applied", (standalone(request(4), copies=2),), (NEIGHBOUR,), Stamp.HOLD),
    Edit("a gang that does not fit is not applied", (gang([request(4)], [request(4)]),), (NEIGHBOUR,), Stamp.HOLD),
    Edit("another name is applied", (standalone(request(4), name="renamed"),), (NEIGHBOUR,), Stamp.APPLY),
    Edit(
        "another engine that fits is applied",
        (standalone(request(4)), standalone(request(4), name="second")),
        (HALF,),
        Stamp.APPLY,
    ),
    Edit(
        "another engine that does not is not applied",
        (standalone(request(4)), standalone(request(8), name="second")),
        (NEIGHBOUR,),
        Stamp.HOLD,
    ),
]


def edited(*engines: Engine, others: tuple[Replica, ...] = ()) -> tuple[Scene, Schedule]:
    ours = at_once(deployment(*engines))
    scene = Scene(nodes(a=2), [replica(ours, "a/7", stamped(count=4)), *others])
    return scene, scene.decide(ours)


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case.rule)
def test_an_edit_is_applied_in_place_iff_it_takes_no_more_or_fits(case: Edit) -> None:
    _, decided = edited(*case.engines, others=case.others)
    (placement,) = decided.placements
    assert (placement.stamp, placement.leaving, decided.ending) == (case.stamp, False, ())
    assert bool(decided.held_edits) is (case.stamp is Stamp.HOLD)
    if case.stamp is Stamp.HOLD:
        assert placement.engines == (stamped(count=4),)


def test_an_edit_that_does_not_fit_is_named_with_its_numbers() -> None:
    engine = standalone(request(4), copies=3)
    _, decided = edited(engine, others=(NEIGHBOUR,))
    assert [each.refusal for each in decided.held_edits] == [NoRoom("main", 3, 1, pool="x")]
    report = explain(decided, deployment(engine))
    assert (report.scheduled, report.reason) == (False, "InsufficientCapacity")
    assert report.message == (
        "1 of 1 replicas scheduled; held, because the edit does not fit: uid-team-model-a-7 on a (pool x: no room for "
        "engine main: needs 3 nodes, 1 free (pool x of a is held by uid-team-other-a-0))"
    )


@pytest.mark.proves("R126")
def test_31_beside_a_labelled_hand_written_replica_an_edit_to_more_copies_is_held_for_lack_of_room() -> None:
    by_hand = replica(None, "a/0", stamped(count=1), age=9)
    ours = at_once(deployment(standalone(request(1), copies=2)))
    there = cluster("a", pool(2, gpu(1)))
    decided = Scene([there], [replica(ours, "a/0", stamped(count=1)), by_hand]).decide(ours)
    (placement,) = decided.placements
    assert (placement.stamp, placement.engines) == (Stamp.HOLD, (stamped(count=1),))
    assert [each.refusal for each in decided.held_edits] == [NoRoom("main", 2, 1, pool="x")]
    alone = Scene([there], [replica(ours, "a/0", stamped(count=1))]).decide(ours)
    assert [each.stamp for each in alone.placements] == [Stamp.APPLY]


def test_an_edit_that_takes_no_more_asks_for_nothing_but_the_cluster() -> None:
    scene, _ = edited(standalone(request(2)))
    assert [(set(needs.clusters), needs.residents, needs.siblings) for needs in scene.asked] == [
        ({"a"}, frozenset(), False)
    ]


def test_growth_asks_for_the_residents_of_its_cluster_and_no_more() -> None:
    scene, _ = edited(standalone(request(8)))
    assert [(set(needs.residents), needs.siblings, needs.candidates) for needs in scene.asked[1:]] == [
        ({"a"}, False, False)
    ]


def test_an_edit_stays_on_its_own_pools_though_another_would_be_first() -> None:
    ours = at_once(deployment(standalone(request(4))))
    there = cluster("a", pool(2, name="first"), pool(2, name="second"))
    scene = Scene([there], [replica(ours, "a/0", stamped("second", count=2))])
    (placement,) = scene.decide(ours).placements
    assert (placement.stamp, placement.engines) == (Stamp.APPLY, (stamped("second", count=4),))


def test_engines_may_change_places_among_the_replicas_own_pools() -> None:
    there = cluster("a", pool(1, gpu(8, 80), name="x"), pool(1, gpu(8, 40), name="y"))
    before = deployment(standalone(name="p"), standalone(request(8, memory("80Gi")), name="q"))
    after = at_once(deployment(standalone(request(8, memory("80Gi")), name="p"), standalone(name="q")))
    scene = Scene([there])
    scene.run(before)
    scene.serve()
    (placement,) = scene.decide(after).placements
    assert (placement.stamp, placement.leaving) == (Stamp.APPLY, False)
    assert [engine.pool for engine in placement.engines] == ["x", "y"]


def test_of_several_that_grow_in_one_pass_the_older_take_the_room() -> None:
    ours = deployment(standalone(copies=2), replicas=2)
    own = [replica(ours, f"a/{index}", age=index) for index in range(2)]
    stamps = [p.stamp for p in Scene(nodes(a=3), own).decide(ours).placements]
    assert stamps == [Stamp.HOLD, Stamp.APPLY]
    stamps = [p.stamp for p in Scene(nodes(a=4), own).decide(ours).placements]
    assert stamps == [Stamp.APPLY, Stamp.APPLY]


def grown(owner: str, age: int) -> Replica:
    """Return a replica that was stamped with two copies and serves with one."""
    born = replica(deployment(name=owner), "a/0", stamped(copies=2), age=age)
    return replace(born, served_engines=(stamped(),))


def test_of_two_growths_that_raced_the_younger_reverts_and_does_not_try_again_until_there_is_room() -> None:
    big = standalone(copies=2)
    scene = Scene(nodes(a=3), [grown("first", 2), grown("second", 1)])
    first, second = deployment(big, name="first"), deployment(big, name="second")
    (kept,) = scene.run(first).placements
    (reverted,) = scene.run(second).placements
    assert (kept.stamp, reverted.stamp, reverted.engines) == (Stamp.APPLY, Stamp.REVERT, (stamped(),))
    scene.serve()
    (held,) = scene.run(second).placements
    assert (held.stamp, held.engines) == (Stamp.HOLD, (stamped(),))
    scene.change("a", pools=(pool(4),))
    (applied,) = scene.run(second).placements
    assert applied.stamp is Stamp.APPLY


def test_a_growth_that_raced_goes_before_what_never_served() -> None:
    newcomer = deployment(name="new")
    scene = Scene(nodes(a=2), [grown("first", 1), replica(newcomer, "a/0", age=5, serves=False)])
    assert [end.cause for end in scene.run(newcomer).ending] == [EndCause.YIELDED]
    assert scene.run(deployment(standalone(copies=2), name="first")).placements[0].stamp is Stamp.APPLY


def test_pods_are_covered_iff_each_finds_one_of_its_own_that_took_as_much() -> None:
    small, large = ((1, 1),), ((2, 2),)
    assert covers(((small, 1), (large, 1)), ((small, 2),))
    assert not covers(((small, 2),), ((small, 1), (large, 1)))
    assert not covers(((large, 1),), ((small, 2),))
    assert not covers(((small, 1), (large, 1)), ((large, 2),))


def test_taking_the_place_of_another_engine_is_no_growth() -> None:
    where = layout(cluster("a", pool(2, name="x"), pool(2, name="y")))
    both = stamped("x", 8), stamped("x", 2)
    assert not grows(both, (stamped("x", 1), stamped("x", 8)), where)
    assert grows(both, (stamped("x", 4), stamped("x", 8)), where)
    assert grows(both, (stamped("y", 1),), where)
    assert not grows(both, (), where)
