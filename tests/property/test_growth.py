"""Growth is a placement too: applied in place where it fits, else the replica is held."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, Engine
from modelplane.model.placement import Stamp
from modelplane.model.rollout import Amount, Rollout
from modelplane.scheduling.room import growth
from profiles import with_engines
from property.fleet import Fleet, Snapshot, decide
from property.oracles import growth as oracle
from property.oracles.arrangements import stranded
from property.oracles.growth import Group
from property.oracles.placing import fits, matching_assignments
from property.oracles.room import groups_on
from property.strategies import engine_lists, examples, situations

Situation = tuple[Deployment, Snapshot]
#: A rollout that changes every replica where it stands at once.
IN_PLACE = Rollout(max_surge=Amount(0), max_unavailable=Amount(500))


@st.composite
def grown(draw: st.DrawFn, engines: tuple[Engine, ...]) -> tuple[Engine, ...]:
    """Draw the same engines, one of them bigger: more copies, more pods or more devices a pod."""
    which = draw(st.integers(0, len(engines) - 1))
    engine = engines[which]
    if draw(st.booleans()):
        bigger = replace(engine, copies=engine.copies + draw(st.integers(1, 2)))
    else:
        *rest, last = engine.members
        first, *others = last.requests
        first = replace(first, count=first.count + draw(st.integers(1, 2)))
        bigger = replace(engine, members=(*rest, replace(last, requests=(first, *others))))
    return (*engines[:which], bigger, *engines[which + 1 :])


@pytest.mark.proves("R63")
@given(situations(), st.data())
@examples(200)
def test_growth_that_fits_is_applied_in_place_and_otherwise_the_replica_is_held(
    situation: Situation, data: st.DataObject
) -> None:
    deployment, now = situation
    deployment = replace(deployment, replicas=1)
    fleet = Fleet(now.clusters, now.replicas)
    fleet.carry_out(deployment, decide(deployment, fleet.snapshot()).schedule)
    fleet.serve()
    assume(fleet.own(deployment))
    (before,) = fleet.own(deployment)
    edited = with_engines(replace(deployment, rollout=IN_PLACE), data.draw(grown(deployment.profiles[0].engines)))
    cluster = now.clusters[before.cluster]
    own_pools = {engine.pool for engine in before.engines}
    ways = [way for way in matching_assignments(cluster, edited) if {e.pool for e in way} <= own_pools]
    others = [r for r in fleet.replicas.values() if r.uid != before.uid]
    fitting = [way for way in ways if fits(cluster, way, others)]
    decided = decide(edited, fleet.snapshot()).schedule
    (placement,) = [p for p in decided.placements if p.replica is not None]
    assert placement.replica == before
    assert decided.ending == ()
    if fitting:
        assert placement.stamp is Stamp.APPLY
        assert placement.engines in fitting
        assert decided.held_edits == ()
        assert len(decided.placements) == 1
    else:
        assert placement.stamp is Stamp.HOLD
        assert placement.engines == before.engines
    if ways and not fitting:
        assert [w.replica for w in decided.held_edits] == [before]
        assert placement.why
        assert not placement.leaving
    if not ways:
        assert placement.stamp is Stamp.HOLD


@given(situations(), st.data())
@examples(100)
def test_growth_of_several_replicas_strands_no_engine(situation: Situation, data: st.DataObject) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    fleet.carry_out(deployment, decide(deployment, fleet.snapshot()).schedule)
    fleet.serve()
    edited = with_engines(deployment, data.draw(grown(deployment.profiles[0].engines)))
    for _ in range(2):
        decided = decide(edited, fleet.snapshot()).schedule
        fleet.carry_out(edited, decided)
        for cluster in fleet.clusters.values():
            for pool in cluster.pools or ():
                assert stranded(pool, groups_on(cluster.name, pool.name, fleet.replicas.values())) is None
        served = {p.replica.uid for p in decided.placements if p.replica is not None and p.replica.has_served}
        assert {r.uid for r in fleet.own(deployment) if r.has_served} == served


@given(situations(), engine_lists())
@examples(150)
def test_any_edit_that_its_own_pools_can_host_is_applied_in_place(
    situation: Situation, engines: tuple[Engine, ...]
) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    fleet.carry_out(deployment, decide(replace(deployment, replicas=1), fleet.snapshot()).schedule)
    fleet.serve()
    assume(fleet.own(deployment))
    (before,) = fleet.own(deployment)
    edited = with_engines(replace(deployment, replicas=1, rollout=IN_PLACE), engines)
    cluster = now.clusters[before.cluster]
    own_pools = {engine.pool for engine in before.engines}
    ways = [way for way in matching_assignments(cluster, edited) if {e.pool for e in way} <= own_pools]
    others = [r for r in fleet.replicas.values() if r.uid != before.uid]
    decided = decide(edited, fleet.snapshot()).schedule
    (placement,) = [p for p in decided.placements if p.replica is not None]
    assert not (ways and placement.leaving)
    if any(fits(cluster, way, others) for way in ways):
        assert placement.stamp is Stamp.APPLY
        assert placement.engines in ways
        assert fits(cluster, placement.engines, others)
        assert len(decided.placements) == 1


@pytest.mark.proves("R63")
@given(situations(), st.integers(0, 2))
@examples(100)
def test_an_edit_that_makes_a_replica_smaller_is_applied_whatever_the_room(situation: Situation, nodes: int) -> None:
    deployment, now = situation
    first, *rest = deployment.profiles[0].engines
    small = with_engines(replace(deployment, replicas=1), (replace(first, copies=1), *rest))
    large = with_engines(small, (replace(first, copies=2), *rest))
    fleet = Fleet(now.clusters, now.replicas)
    fleet.carry_out(large, decide(large, fleet.snapshot()).schedule)
    fleet.serve()
    assume(fleet.own(large))
    for name, cluster in fleet.clusters.items():
        shrunk = tuple(replace(pool, nodes=min(nodes, pool.nodes)) for pool in cluster.pools or ())
        fleet.clusters[name] = replace(cluster, pools=shrunk)
    (placement,) = decide(small, fleet.snapshot()).schedule.placements
    assert placement.stamp is Stamp.APPLY
    assert [engine.copies for engine in placement.engines] == [engine.copies for engine in small.profiles[0].engines]


def _groups(kinds: int) -> st.SearchStrategy[Group]:
    demands = st.tuples(*[st.tuples(st.just(0), st.integers(0, 3))] * 2)
    pods = st.dictionaries(demands, st.integers(1, 2), min_size=1, max_size=kinds)
    return pods.map(lambda counted: tuple(sorted(counted.items())))


@given(_groups(3), _groups(3))
@examples(400)
def test_pods_cover_others_iff_some_exchange_of_places_is_possible(before: Group, after: Group) -> None:
    assert growth.covers(before, after) is oracle.covers(before, after)


@given(st.lists(_groups(2), max_size=5), st.lists(_groups(2), max_size=5))
@examples(400)
def test_groups_take_the_places_of_others_iff_some_exchange_is_possible(
    before: list[Group], after: list[Group]
) -> None:
    assert growth.exchangeable(before, after) is oracle.exchangeable(before, after)


def test_many_alike_groups_are_exchanged_without_trying_their_orders() -> None:
    small, large = ((((0, 1),), 1),), ((((0, 2),), 1),)
    before = [small] * 100 + [large] * 100
    assert growth.exchangeable(before, [large] * 100 + [small] * 100)
    assert not growth.exchangeable(before, [large] * 101 + [small] * 99)
