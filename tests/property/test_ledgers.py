"""What clusters publish may be old: it ranks them, and decides nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Effect, Taint
from modelplane.model.placement import EndCause
from modelplane.model.refusal import NotChecked
from property.fleet import Fleet, Snapshot, decide
from property.histories import histories
from property.oracles.room import groups_on, has_room
from property.strategies import examples, residents, situations

Situation = tuple[Deployment, Snapshot]


@pytest.mark.proves("R2")
@given(histories(), st.data())
@examples(120)
def test_a_pass_places_nothing_that_does_not_fit_however_old_the_ledgers_are(
    situation: Situation, data: st.DataObject
) -> None:
    deployment, now = situation
    ledgers = Snapshot(now.clusters, tuple(data.draw(residents(dict(now.clusters), most=4))))
    fleet = Fleet(now.clusters, now.replicas)
    decided = decide(deployment, now, charged_as_of=ledgers).schedule
    placed = {p.cluster for p in decided.placements if p.replica is None}
    fleet.carry_out(deployment, decided)
    for name in placed:
        for pool in now.clusters[name].pools or ():
            before = has_room(pool, groups_on(name, pool.name, now.replicas))
            after = has_room(pool, groups_on(name, pool.name, fleet.replicas.values()))
            assert after or not before, (name, pool.name)


@given(situations(), st.data())
@examples(100)
def test_where_a_cluster_that_says_it_is_free_has_room_something_is_placed(
    situation: Situation, data: st.DataObject
) -> None:
    deployment, now = situation
    decided = decide(deployment, now, charged_as_of=Snapshot(now.clusters)).schedule
    exact = decide(deployment, now).schedule
    assert decided.unplaced == exact.unplaced
    assert not any(isinstance(refusal, NotChecked) for refusal in decided.refusals.values())


@pytest.mark.proves("R6")
@given(situations(), st.data())
@examples(80)
def test_an_evicted_replica_does_not_end_because_ledgers_are_old(situation: Situation, data: st.DataObject) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    fleet.carry_out(deployment, decide(deployment, now).schedule)
    fleet.serve()
    for name in sorted({each.cluster for each in fleet.own(deployment)}):
        taints = (Taint("maintenance", Effect.NO_EXECUTE),)
        fleet.clusters[name] = replace(fleet.clusters[name], taints=taints)
    full = Snapshot(now.clusters, (*now.replicas, *data.draw(residents(dict(now.clusters), most=6))))
    deployment = replace(deployment, tolerations=())
    stale = decide(deployment, fleet.snapshot(), charged_as_of=full).schedule
    exact = decide(deployment, fleet.snapshot()).schedule
    ended = {end.replica.uid for end in stale.ending if end.cause is EndCause.EVICTED}
    assert ended <= {end.replica.uid for end in exact.ending if end.cause is EndCause.EVICTED}
