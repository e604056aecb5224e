"""ModelReplicas written by hand, and clusters that are not for every namespace."""

from dataclasses import replace

import pytest

from modelplane.model.fleet import Cluster, Effect
from modelplane.model.placement import Holders
from modelplane.model.refusal import NoRoom, NotAllowed, Tainted
from modelplane.model.replica import Claim, Replica
from modelplane.scheduling.room.by_hand import find_closed, find_misfit, find_no_room
from unit.scheduling.scene import (
    Scene,
    cluster,
    deployment,
    gpu,
    memory,
    places,
    pool,
    replica,
    stamped,
)

FOUR = cluster("a", pool(4))
FALSE = memory("999Gi")


def by_hand(*engines: object, age: int = 9, serves: bool = False) -> Replica:
    """Return a replica written by hand before every other."""
    return replica(None, "a/0", *engines, age=age, serves=serves)  # type: ignore[arg-type]


def _of_class(name: str) -> Replica:
    (engine,) = by_hand().engines
    (member,) = engine.members
    members = (replace(member, claims=(Claim("gpu", name, 8),)),)
    return replace(by_hand(), engines=(replace(engine, members=members),))


NEVER = {
    "64 copies on 4 nodes": by_hand(stamped(copies=64)),
    "a selector that nothing satisfies": by_hand(stamped(selectors=(FALSE,))),
    "a selector that fails on every device": by_hand(stamped(selectors=("device.attributes['x'].y == 1",))),
    "more devices than a node has": by_hand(stamped(count=9)),
    "a DeviceClass that the pool does not declare": _of_class("other.example.com"),
    "pool system, which no cluster publishes": by_hand(stamped("system"), stamped()),
    "one engine that fits and one that cannot": by_hand(stamped(), stamped(count=9)),
}


@pytest.mark.proves("R26")
def test_a_replica_by_hand_that_its_own_pass_has_refused_holds_nothing_until_it_is_not() -> None:
    there, refused = cluster("a", pool(1)), replace(by_hand(), refused=True)
    assert places(Scene([there], [refused]).decide(deployment())) == ["a/0"]
    waiting = replica(deployment(name="first"), "a/0", age=10, serves=False)
    assert find_no_room(refused, there, [waiting, refused]) is not None
    assert Scene([there], [replace(refused, has_served=True)]).decide(deployment()).unplaced == 1


@pytest.mark.proves("R25")
@pytest.mark.parametrize("never", NEVER.values(), ids=NEVER)
def test_a_replica_by_hand_that_can_never_bind_holds_nothing(never: Replica) -> None:
    ours = deployment(replicas=4)
    assert places(Scene([FOUR], [never]).decide(ours)) == ["a/0", "a/1", "a/2", "a/3"]


@pytest.mark.proves("R27")
def test_a_replica_by_hand_that_never_served_yields_to_all_before_it_and_then_holds_nothing() -> None:
    first, second = deployment(name="first"), deployment(name="second")
    there = cluster("a", pool(1))
    older, younger = by_hand(age=9), by_hand(age=0)
    assert Scene([there], [older]).decide(first).unplaced == 1
    waiting = replica(first, "a/0", age=5, serves=False)
    assert places(Scene([there], [waiting, younger]).decide(first)) == ["a/0"]
    short = NoRoom("main", 1, 0, pool="x")
    assert find_no_room(younger, there, [waiting]) == (short, Holders(own=(waiting.name,)))
    assert find_no_room(older, there, [waiting]) is None
    two = cluster("a", pool(2))
    assert places(Scene([two], [waiting, by_hand(stamped(copies=2), age=0)]).decide(second)) == ["a/0"]


def test_a_replica_by_hand_that_has_served_keeps_its_room_whatever_came_before_it() -> None:
    serves = by_hand(age=0, serves=True)
    waiting = replica(deployment(name="first"), "a/0", age=5, serves=False)
    assert Scene([cluster("a", pool(1))], [serves, waiting]).decide(deployment(name="second")).unplaced == 1
    too_many = by_hand(stamped(copies=64), serves=True)
    assert Scene([FOUR], [too_many]).decide(deployment()).unplaced == 1


def test_a_replica_by_hand_is_not_judged_by_pools_that_are_not_published() -> None:
    assert find_misfit(NEVER["more devices than a node has"], replace(FOUR, pools=None)) == ""


def test_a_replica_by_hand_obeys_taints_and_the_namespaces_that_its_cluster_allows() -> None:
    tainted = cluster("a", pool(4), taints=[("dedicated", Effect.NO_SCHEDULE)])
    assert find_closed(by_hand(), tainted, {}) == Tainted("dedicated", "NoSchedule")
    selective = replace(FOUR, allowed={"tier": "gold"})
    assert find_closed(by_hand(), selective, {"tier": "silver"}) == NotAllowed("team", "tier", "gold")
    assert find_closed(by_hand(), selective, {"tier": "gold"}) is None


def open_to(name: str, **labels: str) -> Cluster:
    return replace(cluster(name, pool(4, gpu())), allowed=labels)


@pytest.mark.proves("R71")
def test_a_cluster_takes_replicas_of_the_namespaces_that_it_allows_alone() -> None:
    scene = Scene([open_to("a", tier="gold"), open_to("b", tier="silver")])
    scene.namespace = {"tier": "silver"}
    decided = scene.decide(deployment(replicas=2))
    assert places(decided) == ["b/0", "b/1"]
    scene.namespace = {}
    refused = scene.decide(deployment()).refusals
    assert refused == {"a": NotAllowed("team", "tier", "gold"), "b": NotAllowed("team", "tier", "silver")}


@pytest.mark.proves("R71")
def test_narrowing_the_allowed_namespaces_ends_nothing_that_runs() -> None:
    ours = deployment()
    scene = Scene([open_to("a", tier="gold"), cluster("b", pool(4))], [replica(ours, "a/0")])
    assert places(scene.decide(ours)) == ["a/0"]
