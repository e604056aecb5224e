"""Of which clusters a pass reads the replicas before it decides."""

from dataclasses import replace

import pytest

from modelplane.model.fleet import Cluster, Effect
from modelplane.model.placement import FleetView, Guess, Needs, Schedule
from modelplane.model.refusal import NotChecked
from modelplane.scheduling import schedule
from publishing import published
from unit.scheduling.catalogued import catalogued, profile
from unit.scheduling.scene import (
    Scene,
    cluster,
    deployment,
    gpu,
    nodes,
    places,
    pool,
    replica,
    stamped,
    standalone,
)

OURS = deployment(replicas=3)


@pytest.mark.proves("R7")
@pytest.mark.parametrize(
    ("replicas", "read"), [(100, 12), (300, 10), (1_400, 2), (9_000, 1)], ids=["few", "more", "many", "too many"]
)
def test_no_more_replicas_are_read_in_a_round_than_the_bound_or_those_of_one_cluster(replicas: int, read: int) -> None:
    fleet = tuple(replace(each, replicas=replicas) for each in nodes(**{f"c{number}": 2 for number in range(12)}))
    needs = schedule(replace(OURS, replicas=4), FleetView(candidates=fleet, siblings=()))
    assert isinstance(needs, Needs)
    assert (len(needs.residents), needs.shortlist) == (read, Guess())


def test_a_cluster_that_no_call_is_left_for_is_not_chosen_and_says_that_it_was_not_checked() -> None:
    there = nodes(a=1, b=1)
    view = FleetView(candidates=there, siblings=(), residents={"a": ()}, final=True)
    decided = schedule(OURS, view)
    assert isinstance(decided, Schedule)
    assert (places(decided), decided.unplaced) == (["a/0"], 2)
    assert isinstance(decided.refusals["b"], NotChecked)


def test_a_shortlist_that_does_not_do_asks_for_all_candidates_again() -> None:
    taken = (replica(deployment(name="other"), "a/0"),)
    view = FleetView(candidates=nodes(a=1), siblings=(), residents={"a": taken}, shortlisted=Guess())
    assert schedule(OURS, view) == Needs(candidates=True)


def test_an_evicted_replica_stays_while_clusters_that_may_have_room_were_not_read() -> None:
    ours = deployment(replicas=1)
    bare = cluster("a", pool(1), taints=[("gone", Effect.NO_EXECUTE)])
    (own,) = (replica(ours, "a/0"),)
    view = FleetView((own,), {"a": bare}, (bare, *nodes(b=1)), {"a": (own,)}, (own,), final=True)
    decided = schedule(ours, view)
    assert isinstance(decided, Schedule)
    assert (places(decided), decided.ending) == (["-a/0"], ())


@pytest.mark.proves("R6")
def test_an_evicted_replica_stays_until_clusters_that_are_full_for_a_later_profile_were_read() -> None:
    ours = catalogued(profile("large", 8), profile("small", 4))
    bare, small = cluster("a", pool(1), taints=[("gone", Effect.NO_EXECUTE)]), cluster("b", pool(1, gpu(4)))
    (own,), gone = (replica(ours, "a/0"),), replica(deployment(name="other"), "b/0", stamped(count=4))
    view = FleetView((own,), {"a": bare}, (bare, published(small, [gone])), {}, (own,))
    assert schedule(ours, view) == Needs(residents=frozenset("b"))


@pytest.mark.proves("R7")
@pytest.mark.parametrize(("replicas", "read"), [(40, 64), (100, 30), (9_000, 1)], ids=["few", "many", "too many"])
def test_no_more_replicas_are_read_before_an_evicted_one_ends_than_in_any_round(replicas: int, read: int) -> None:
    ours, bare = deployment(), cluster("a", pool(1), taints=[("gone", Effect.NO_EXECUTE)])
    own, other = replica(ours, "a/0"), deployment(name="other")
    there = [published(each, [replica(other, f"{each.name}/0")]) for each in nodes(**{f"c{n}": 1 for n in range(80)})]
    taken = tuple(replace(each, replicas=replicas) for each in there)
    needs = schedule(ours, FleetView((own,), {"a": bare}, (bare, *taken), {}, (own,)))
    assert isinstance(needs, Needs)
    assert len(needs.residents) == read


@pytest.mark.proves("R6")
def test_the_cluster_that_comes_nearest_is_read_before_it_is_refused_though_another_was_read() -> None:
    other = deployment(name="other")
    full = published(nodes(a=2)[0], [replica(other, "a/0"), replica(other, "a/1")])
    nearer = published(nodes(b=2)[0], [replica(other, "b/0")])
    ours = deployment(standalone(copies=2))
    view = FleetView(
        candidates=(full, nearer), siblings=(), residents={"a": (replica(other, "a/0"), replica(other, "a/1"))}
    )
    assert schedule(ours, view) == Needs(residents=frozenset("b"))


def test_an_evicted_replica_that_no_cluster_has_room_for_ends_once_those_were_read() -> None:
    ours = deployment(replicas=1)
    bare = cluster("a", pool(1), taints=[("gone", Effect.NO_EXECUTE)])
    others = [replica(deployment(name=f"other-{name}"), f"{name}/0") for name in "bcd"]
    scene = Scene([bare, *nodes(b=1, c=1, d=1)], [replica(ours, "a/0"), *others])
    decided = scene.decide(ours)
    assert (places(decided), len(decided.ending)) == ([], 1)
    assert scene.asked[-1].residents == frozenset("bcd")


PROFILES = catalogued(profile("large", 8), profile("small", 4))
EMPTY = tuple(published(cluster(name, pool(1)), []) for name in "ab")


def guessed(candidates: tuple[Cluster, ...] = EMPTY) -> Needs:
    """Return what a pass over candidates asks for that publish that they are empty."""
    needs = schedule(PROFILES, FleetView(candidates=candidates, siblings=()))
    assert isinstance(needs, Needs)
    return needs


@pytest.mark.proves("R3")
def test_several_profiles_are_decided_on_a_shortlist_that_confirms_the_published_room() -> None:
    outside = published(cluster("c", pool(1, gpu(2))), [])
    needs = guessed((*EMPTY, outside))
    assert needs.residents == {"a", "b"}
    view = FleetView(candidates=EMPTY, siblings=(), residents={"a": (), "b": ()}, shortlisted=needs.shortlist)
    decided = schedule(PROFILES, view)
    assert isinstance(decided, Schedule)
    assert [each.profile for each in decided.placements] == ["large"]
    assert decided.why["large"].startswith("1 pool ")


@pytest.mark.proves("R3")
def test_a_shortlist_with_less_room_than_it_published_is_no_reason_for_a_worse_profile() -> None:
    other = deployment(name="other")
    residents = {name: (replica(other, f"{name}/0", stamped(count=4)),) for name in "ab"}
    view = FleetView(candidates=EMPTY, siblings=(), residents=residents, shortlisted=guessed().shortlist)
    assert schedule(PROFILES, view) == Needs(candidates=True)


def test_several_profiles_are_not_narrowed_where_clusters_do_not_publish_what_takes_room() -> None:
    assert guessed(nodes(a=1, b=1)).shortlist is None
