"""A decision depends on what is there and on nothing else, and once carried out it stands."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment
from modelplane.model.placement import Needs, Schedule, Stamp
from property.fleet import Fleet, Snapshot, decide
from property.histories import histories
from property.oracles.taints import carries
from property.strategies import examples, situations

Situation = tuple[Deployment, Snapshot]


def outcome(decided: Schedule) -> list[tuple[Any, ...]]:
    return [(p.cluster, p.index, p.engines, p.leaving) for p in decided.placements]


@pytest.mark.proves("P58")
@given(histories(), st.randoms(use_true_random=False))
@examples(100)
def test_the_order_of_fetched_lists_is_irrelevant(situation: Situation, random: Random) -> None:
    deployment, now = situation

    def shuffled(items: Any) -> list[Any]:
        listed = list(items)
        random.shuffle(listed)
        return listed

    mixed = replace(now, clusters={name: now.clusters[name] for name in shuffled(now.clusters)})
    straight, other = decide(deployment, now), decide(deployment, mixed, order=shuffled)
    assert other.schedule == straight.schedule
    assert other.needs == straight.needs


@given(situations())
@examples(120)
def test_a_second_pass_changes_nothing(situation: Situation) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    first = decide(deployment, fleet.snapshot()).schedule
    fleet.carry_out(deployment, first)
    second = decide(deployment, fleet.snapshot()).schedule
    assert outcome(second) == outcome(first)
    assert all(p.replica is not None for p in second.placements)
    assert second.ending == ()
    assert second.refusals == first.refusals
    fleet.serve()
    third = decide(deployment, fleet.snapshot()).schedule
    assert outcome(third) == outcome(first)
    assert third.ending == ()


@given(histories())
@examples(120)
def test_after_any_history_the_fleet_comes_to_rest(situation: Situation) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    for _ in range(16):
        fleet.carry_out(deployment, decide(deployment, fleet.snapshot()).schedule)
        fleet.serve()
        fleet.bury()
    rest = decide(deployment, fleet.snapshot()).schedule
    assert rest.ending == ()
    assert all(p.replica is not None for p in rest.placements)


@given(situations())
@examples(80)
def test_a_settled_deployment_asks_for_nothing_but_its_clusters_by_name(situation: Situation) -> None:
    deployment, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    decided = decide(deployment, fleet.snapshot()).schedule
    fleet.carry_out(deployment, decided)
    fleet.serve()
    deployment = replace(deployment, replicas=len(fleet.own(deployment)))
    settled = decide(deployment, fleet.snapshot())
    assert settled.schedule.settled
    assert settled.needs == Needs(clusters=frozenset(p.cluster for p in settled.schedule.placements))


@given(histories())
@examples(120)
def test_what_a_schedule_says_adds_up(situation: Situation) -> None:
    deployment, now = situation
    decided = decide(deployment, now).schedule
    places = [(p.cluster, p.index) for p in decided.placements]
    assert places == sorted(places)
    assert decided.replicas == deployment.replicas
    assert decided.unplaced == max(0, deployment.replicas - sum(not p.leaving for p in decided.placements))
    assert sum(not p.leaving for p in decided.placements) <= deployment.replicas
    candidates = {name for name, c in now.clusters.items() if carries(c, deployment.cluster_selector)}
    assert set(decided.refusals) == (candidates if decided.unplaced else set())
    if decided.unplaced:
        assert decided.candidates == len(candidates)
    assert all(p.replica is not None for p in decided.placements if p.leaving or p.stamp is not Stamp.APPLY)
    # Of what waits for the rollout RolloutProgressing says why.
    changed = [p for p in decided.placements if p.updated or p.why]
    assert all(bool(p.why) is (p.leaving or p.stamp is not Stamp.APPLY) for p in changed)
