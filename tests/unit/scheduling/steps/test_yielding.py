"""Yield, scale-down and fill: which replica goes before which, and which cluster comes first."""

from collections import Counter
from dataclasses import replace

import pytest

from modelplane.model.names import digest
from modelplane.model.placement import EndCause
from modelplane.model.serving import Serving
from modelplane.scheduling.room.ledger import Ledger, identity
from modelplane.scheduling.room.precedence import yielding
from modelplane.scheduling.steps.endings import surplus
from modelplane.scheduling.steps.roster import OwnReplica
from unit.scheduling.scene import (
    Scene,
    cluster,
    deployment,
    gpu,
    nodes,
    places,
    pool,
    pools_of,
    replica,
    request,
    stamped,
    standalone,
)

ONE, TWO, THREE = (deployment(name=name) for name in ("one", "two", "three"))


def gives_way(nodes_there: int, *replicas: object) -> set[str]:
    everything = [each for each in replicas if isinstance(each, type(replica(ONE, "a/0")))]
    return {uid.split("-")[2] for uid in yielding(cluster("a", pool(nodes_there)), Ledger(everything))}


def test_serving_ones_are_kept_whatever_the_room() -> None:
    assert gives_way(1, replica(ONE, "a/0"), replica(TWO, "a/0"), replica(THREE, "a/0", age=9, serves=False)) == {
        "three"
    }


def test_the_older_keep_their_room_then_the_lower_owner() -> None:
    assert gives_way(1, replica(ONE, "a/0", age=1, serves=False), replica(TWO, "a/0", age=2, serves=False)) == {"one"}
    assert gives_way(1, replica(ONE, "a/0", serves=False), replica(TWO, "a/0", serves=False)) == {"two"}


def test_one_that_does_not_fit_makes_no_other_give_way() -> None:
    gang = replica(ONE, "a/0", stamped(copies=3), age=3, serves=False)
    small = replica(TWO, "a/0", age=2, serves=False)
    assert gives_way(2, gang, small) == {"one"}


@pytest.mark.proves("R86")
def test_a_replica_is_kept_only_if_it_fits_in_all_its_pools() -> None:
    there = cluster("a", pool(1, name="x"), pool(1, name="y"))
    both = replica(ONE, "a/0", stamped("x"), stamped("y"), age=1, serves=False)
    full = replica(TWO, "a/0", stamped("y"))
    later = replica(THREE, "a/0", stamped("x"), serves=False)
    assert set(yielding(there, Ledger([both, full, later]))) == {identity(both)}


def test_who_yields_leaves_its_index_alone_until_it_is_gone() -> None:
    there = cluster("a", pool(1, name="x"), pool(1, name="y"))
    raced = [replica(ONE, "a/0", age=2, serves=False), replica(TWO, "a/0", age=1, serves=False)]
    decided = Scene([there], raced).decide(TWO)
    assert [end.cause for end in decided.ending] == [EndCause.YIELDED]
    assert places(decided) == ["a/1"]
    assert pools_of(decided.placements[0]) == {"main": "y"}


def test_a_replica_that_served_before_its_engines_were_recorded_yields_to_none() -> None:
    ours = replace(replica(ONE, "a/0"), served_engines=None)
    scene = Scene(nodes(a=1), [ours, replica(TWO, "a/0", age=9), replica(THREE, "a/1", age=9, serves=False)])
    decided = scene.decide(ONE)
    assert (places(decided), decided.ending, decided.held_edits) == (["a/0"], (), ())
    assert not any(needs.residents for needs in scene.asked)


def remaining(asked: int, *own: str) -> list[str]:
    """Return what is left of replicas written as `cluster/index`.

    A star follows those that never served, an exclamation mark those that are seen not to serve, and a question mark
    those that cannot be seen.
    """
    seen = {"*": Serving.NOT, "!": Serving.NOT, "?": Serving.UNSEEN}
    members = []
    for place in own:
        where = place.rstrip("*!?")
        there = OwnReplica(replica(ONE, where, serves="*" not in place), int(where[2:]))
        there.serving = seen.get(place[-1], Serving.NOW)
        members.append(there)
    ending = surplus(members, asked)
    return [f"{each.replica.cluster}/{each.index}" for each in members if each not in ending]


def test_scale_down_takes_idle_ones_then_from_where_most_are_then_the_last_name_and_index() -> None:
    assert remaining(2, "a/0*", "a/1", "b/0") == ["a/1", "b/0"]
    assert remaining(2, "a/0", "a/1", "b/3") == ["a/0", "b/3"]
    assert remaining(1, "a/0", "b/0") == ["a/0"]
    assert remaining(2, "a/0*", "a/1*", "a/2", "b/0*") == ["a/2", "b/0"]
    assert remaining(3, "a/0", "a/1") == ["a/0", "a/1"]


@pytest.mark.proves("R70")
def test_scale_down_takes_what_is_seen_not_to_serve_before_what_serves_and_last_what_cannot_be_seen() -> None:
    assert remaining(2, "a/0!", "b/0", "c/0") == ["b/0", "c/0"]
    assert remaining(2, "a/0!", "a/1!", "b/0", "c/0") == ["b/0", "c/0"]
    assert remaining(2, "a/0!", "b/0", "c/0*") == ["a/0", "b/0"]
    assert remaining(2, "a/0", "a/1", "c/0?") == ["a/0", "c/0"]
    assert remaining(1, "a/0!", "b/0?", "c/0") == ["b/0"]
    assert remaining(1, "a/0!", "a/1", "a/2*") == ["a/1"]


def test_scale_down_counts_again_after_each() -> None:
    assert remaining(3, "a/0", "a/1", "a/2", "b/0", "b/1", "c/0") == ["a/0", "b/0", "c/0"]


def test_new_ones_go_where_fewest_are_then_where_most_room_is() -> None:
    assert places(Scene(nodes(a=2, b=9, c=5)).decide(deployment(replicas=1))) == ["b/0"]
    assert places(Scene(nodes(a=2, b=9, c=5)).decide(deployment(replicas=4))) == ["a/0", "b/0", "b/1", "c/0"]


def test_the_most_room_is_counted_in_replicas_of_this_deployment_not_in_devices() -> None:
    many_small = cluster("a", pool(9, gpu(4)), pool(1, gpu(8), name="y"))
    few_large = cluster("b", pool(2, gpu(8)))
    assert places(Scene([many_small, few_large]).decide(deployment())) == ["b/0"]


def test_exact_ties_go_by_a_hash_of_deployment_and_cluster() -> None:
    chosen = {}
    for number in range(20):
        one = deployment(name=f"model-{number}")
        (chosen[one.name],) = places(Scene(nodes(a=3, b=3, c=3)).decide(one))
    expected = {
        name: min("abc", key=lambda there, name=name: digest("team", name, there)) + "/0"  # type: ignore[misc]
        for name in chosen
    }
    assert chosen == expected
    assert len(Counter(chosen.values())) == 3


def test_a_replica_that_leaves_does_not_count_where_new_ones_go() -> None:
    ours = deployment(standalone(request(1)), replicas=1)
    scene = Scene(nodes(a=4, b=2), [replica(ours, "a/0", stamped("gone", 1))])
    assert places(scene.decide(ours)) == ["-a/0", "a/1"]


def test_the_order_in_which_things_are_listed_does_not_matter() -> None:
    ours = deployment(standalone(request(4)), replicas=5)
    there = nodes(a=2, b=2, c=1)
    present = [replica(TWO, "a/0", age=3, serves=False), replica(ours, "b/0"), replica(ours, "a/1", serves=False)]
    one, other = Scene(there, present).decide(ours), Scene(reversed(there), reversed(present)).decide(ours)
    assert one == other
    assert replace(one, placements=()) == replace(other, placements=())
