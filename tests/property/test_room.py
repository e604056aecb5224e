"""What is placed can be bound whatever the cluster does, and what is refused could not have been placed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Cluster, Pool
from modelplane.model.placement import Footprint, Schedule
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from property.fleet import Fleet, Snapshot, decide
from property.histories import History
from property.oracles.arrangements import stranded
from property.oracles.placing import admissible, fits, matching_assignments
from property.oracles.room import groups_on
from property.oracles.selectors import ANY_GPU, MODEL_A
from property.oracles.taints import may_take
from property.strategies import deployments, examples, situations, taints, tolerations
from property.test_oracles import gpu

Situation = tuple[Deployment, Snapshot]


def assert_nothing_can_be_stranded(fleet: Fleet, decided: Schedule) -> None:
    replicas = list(fleet.replicas.values())
    for placement in decided.placements:
        used = {engine.pool for engine in placement.engines} if placement.replica is None else set()
        for pool in fleet.clusters[placement.cluster].pools or () if used else ():
            if pool.name in used:
                assert stranded(pool, groups_on(placement.cluster, pool.name, replicas)) is None


@pytest.mark.proves("R29", "P61")
@given(situations(), deployments(number=2))
@examples(150)
def test_no_arrangement_of_the_other_pods_strands_a_group_where_something_was_placed(
    situation: Situation, second: Deployment
) -> None:
    first, now = situation
    fleet = Fleet(now.clusters, now.replicas)
    for deployment in (first, second, replace(first, replicas=first.replicas + 2)):
        decided = decide(deployment, fleet.snapshot()).schedule
        fleet.carry_out(deployment, decided)
        assert_nothing_can_be_stranded(fleet, decided)


@given(st.data())
@examples(100)
def test_nor_does_one_after_any_history_and_what_is_refused_then_no_candidate_admits(data: st.DataObject) -> None:
    history = History(data.draw)
    for _ in range(5):
        deployment = history.deployment
        decided = history.reconcile().schedule
        assert_nothing_can_be_stranded(history.fleet, decided)
        if decided.unplaced:
            replicas = [*history.fleet.replicas.values(), *(end.replica for end in decided.ending)]
            assert not any(
                next(admissible(cluster, deployment, list({r.uid: r for r in replicas}.values())), None)
                for cluster in history.fleet.clusters.values()
                if may_take(deployment, cluster, {})
            )
        history.disturb()


def test_a_request_that_may_be_split_over_entries_strands_no_engine() -> None:
    pool = Pool("x", 3, (gpu("big", 3), gpu("small", 1, model="b")))
    claim = Claim("gpu", "gpu", 2, (ANY_GPU,))
    held = [
        Replica("team", name, name, "c", (StampedEngine("e", (StampedMember(Role.STANDALONE, "x", 1, (claim,)),)),))
        for name in ("one", "two")
    ]
    request = DeviceRequest("gpu", 1, (MODEL_A,))
    engine = Engine("e", (Member(Role.STANDALONE, 1, (request,)),), copies=3)
    cluster = Cluster("c", ready=True, address="192.0.2.1", pools=(pool,))
    now = Snapshot({"c": cluster}, tuple(held))
    assert decide(Deployment("team", "m", "owner", (Profile((engine,)),)), now).schedule.unplaced == 1
    smaller = replace(engine, copies=2)
    assert decide(Deployment("team", "m", "owner", (Profile((smaller,)),)), now).schedule.unplaced == 0


@given(situations(), st.data())
@examples(150)
def test_what_is_refused_no_candidate_admits(situation: Situation, data: st.DataObject) -> None:
    deployment, now = situation
    footprint = data.draw(st.sampled_from(({}, {"region": "eu"}, {"region": "us"})))
    deployment = replace(deployment, cache="weights", tolerations=data.draw(tolerations()))
    clusters = {name: replace(cluster, taints=data.draw(taints())) for name, cluster in now.clusters.items()}
    fleet = Fleet(clusters, now.replicas)
    fleet.cache = Footprint("weights", footprint)
    decided = decide(deployment, fleet.snapshot()).schedule
    fleet.carry_out(deployment, decided)
    replicas = list(fleet.replicas.values())
    takers = [cluster for cluster in clusters.values() if may_take(deployment, cluster, footprint)]
    assert {p.cluster for p in decided.placements} <= {cluster.name for cluster in takers}
    assert decided.unplaced == deployment.replicas - len(decided.placements)
    if decided.unplaced:
        assert not any(
            next(admissible(cluster, deployment, replicas), None)
            for cluster in takers
            if getattr(decided.refusals.get(cluster.name), "reason", "") != "SearchBound"
        )


@pytest.mark.proves("R17")
@given(situations())
@examples(150)
def test_the_first_admissible_assignment_in_the_declared_order_of_pools_is_chosen(situation: Situation) -> None:
    deployment, now = situation
    decided = decide(deployment, now).schedule
    for name, cluster in now.clusters.items():
        held = list(now.replicas)
        for placement in (p for p in decided.placements if p.cluster == name):
            first = next(admissible(cluster, deployment, held))
            assert placement.engines == first
            held.append(Replica("team", "new", f"new-{placement.index}", name, placement.engines))


@given(situations())
@examples(100)
def test_what_is_stamped_is_one_of_the_ways_in_which_the_engines_match_and_fit(situation: Situation) -> None:
    deployment, now = situation
    decided = decide(deployment, now).schedule
    for name, cluster in now.clusters.items():
        held = list(now.replicas)
        for placement in (p for p in decided.placements if p.cluster == name):
            assert placement.engines in list(matching_assignments(cluster, deployment))
            assert fits(cluster, placement.engines, held)
            held.append(Replica("team", "new", f"new-{placement.index}", name, placement.engines))
