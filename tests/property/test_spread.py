"""Where new replicas go and which ones go first: spread, balance, indices, scale-down."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, Profile
from modelplane.model.fleet import Cluster
from modelplane.model.names import replica_resource
from modelplane.model.placement import EndCause
from modelplane.model.replica import Replica
from profiles import with_engines
from property.fleet import Snapshot, decide
from property.oracles.ending import faults_of_scale_down
from property.oracles.placing import admissible, devices_taken, how_many_more
from property.oracles.taints import may_take
from property.strategies import clusters, deployments, examples, residents, situations

Situation = tuple[Deployment, Snapshot]


@st.composite
def running(draw: st.DrawFn) -> Situation:
    """Draw a deployment with replicas of its own anywhere on a healthy fleet, under any index, some serving."""
    fleet = {
        name: replace(draw(clusters(name)), ready=True, answers=draw(st.integers(0, 3)) > 0, address="192.0.2.1")
        for name in ("a", "b", "c")
    }
    deployment = draw(deployments())
    held: list[Replica] = draw(residents(fleet, most=2))
    for number in range(draw(st.integers(1, 5))):
        cluster = fleet[draw(st.sampled_from(sorted(fleet)))]
        way = next(admissible(cluster, deployment, held), None)
        taken = {r.index for r in held if r.owner == deployment.uid and r.cluster == cluster.name}
        index = draw(st.sampled_from([free for free in range(7) if free not in taken]))
        if way is not None:
            held.append(
                Replica(
                    deployment.namespace,
                    f"own-{number}",
                    f"uid-{draw(st.integers(0, 9))}-{number}",
                    cluster.name,
                    way,
                    owner=deployment.uid,
                    resource=replica_resource(cluster.name, index),
                    index=index,
                    created=f"2024-02-01T00:00:{draw(st.integers(0, 9)):02}Z",
                    ready=draw(st.booleans()),
                    has_served=draw(st.booleans()),
                    served_engines=way,
                )
            )
    return deployment, Snapshot(fleet, tuple(held))


@pytest.mark.proves("R70")
@given(running(), st.integers(0, 4))
@examples(200)
def test_scale_down_leaves_as_many_that_serve_as_it_can_evenly_spread(situation: Situation, asked: int) -> None:
    deployment, now = situation
    own = [r for r in now.replicas if r.owner == deployment.uid]
    decided = decide(replace(deployment, replicas=asked), now).schedule
    kept = {p.replica.uid for p in decided.placements if p.replica is not None}
    assert faults_of_scale_down(asked, own, [r for r in own if r.uid in kept], now.clusters) == []
    assert {end.cause for end in decided.ending} <= {EndCause.SCALE_DOWN}
    assert {end.replica.uid for end in decided.ending} == {r.uid for r in own} - kept
    if len(own) > asked:
        assert not any(p.replica is None for p in decided.placements)


@given(running(), st.integers(1, 6))
@examples(150)
def test_new_replicas_take_the_lowest_free_index_of_their_cluster(situation: Situation, more: int) -> None:
    deployment, now = situation
    own = [r for r in now.replicas if r.owner == deployment.uid]
    decided = decide(replace(deployment, replicas=len(own) + more), now).schedule
    for name in now.clusters:
        old = {r.index for r in own if r.cluster == name}
        new = [p.index for p in decided.placements if p.cluster == name and p.replica is None]
        free = [index for index in range(20) if index not in old]
        assert sorted(new) == free[: len(new)]


def outcomes(
    caps: dict[str, int], taken: dict[str, list[tuple[bool, float]]], have: Counter[str], wanted: int
) -> set[tuple[tuple[str, int], ...]]:
    """Return every distribution that fills one at a time.

    What takes no part of a gang's node first, then fewest, then the least memory of all devices that are taken, then
    most room; ties go either way.
    """
    reached = {tuple(sorted((name, 0) for name in caps))}
    for _ in range(wanted):
        following = set()
        for state in reached:
            open_ = [
                (taken[name][new][0], have[name] + new, taken[name][new][1], new - caps[name], name)
                for name, new in state
                if new < caps[name]
            ]
            best = min(open_, default=(False, 0, 0.0, 0, ""))[:4]
            for gang, count, memory, room, name in open_:
                if (gang, count, memory, room) == best:
                    following.add(tuple((n, new + (n == name)) for n, new in state))
        reached = following or reached
    return reached


@pytest.mark.proves("R72", "P137")
@given(running(), st.integers(1, 4))
@examples(150)
def test_new_replicas_go_where_fewest_are_then_to_the_least_capable_then_where_most_room_is(
    situation: Situation, more: int
) -> None:
    deployment, now = situation
    deployment = with_engines(deployment, deployment.profiles[0].engines[:1])
    others = tuple(r for r in now.replicas if r.owner != deployment.uid)
    own = [replace(r, engines=r.engines[:1], has_served=True) for r in now.replicas if r.owner == deployment.uid]
    now = replace(now, replicas=(*others, *own))
    caps = {
        name: how_many_more(cluster, deployment, now.replicas, 60)
        for name, cluster in now.clusters.items()
        if may_take(deployment, cluster, {})
    }
    decided = decide(replace(deployment, replicas=len(own) + more), now).schedule
    got = Counter(p.cluster for p in decided.placements if p.replica is None)
    have = Counter(r.cluster for r in own)
    taken = {name: devices_taken(now.clusters[name], deployment, now.replicas, more) for name in caps}
    assert tuple(sorted((name, got[name]) for name in caps)) in outcomes(caps, taken, have, more)


@given(situations())
@examples(25)
def test_deployments_created_together_do_not_all_pick_the_same_of_equal_clusters(situation: Situation) -> None:
    _, now = situation
    cluster = next(iter(now.clusters.values()))
    alike: dict[str, Cluster] = {
        name: replace(cluster, name=name, ready=True, address="192.0.2.1", labels={}) for name in ("a", "b", "c", "d")
    }
    picked = Counter[str]()
    engines = situation[0].profiles[0].engines
    for number in range(12):
        one = Deployment("team", f"model-{number}", f"uid-{number}", (Profile(engines),))
        picked.update(p.cluster for p in decide(one, Snapshot(alike)).schedule.placements)
    assert not picked or len(picked) > 1
