"""No act of a pass lowers the number of replicas that serve, whatever the world does meanwhile.

What serves is counted by the pods that answer in the played world, whatever spec they carry, before the pass and after
its acts: what it ended, and what it changed so that its pods restart. A rollout may be paused at any time. What the
world itself does between passes is not counted. Exempt by name are replicas that the owner scales away while others
cannot be seen, and evictions once every candidate was asked and is full.
"""

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from modelplane.model.fleet import Cluster, Effect
from modelplane.model.placement import EndCause, Schedule
from modelplane.model.replica import Replica
from property.oracles.ending import evicted
from property.oracles.taints import carries, untolerated
from property.played_rollout import copies_of, pods_of
from property.restless import RestlessWorld
from property.strategies import examples

Uids = frozenset[str]


def answering(world: RestlessWorld) -> Uids:
    """Return the replicas of which pods answer, of whichever spec, and that last said so."""
    return frozenset(r.uid for r in world.own() if r.ready and r.uid in world.serving)


def silent(world: RestlessWorld) -> Uids:
    """Return the replicas whose pods do not answer, though they last said so: nothing has looked since."""
    return frozenset(r.uid for r in world.own() if r.ready and r.uid not in world.serving)


def unseen(world: RestlessWorld) -> Uids:
    """Return the replicas of which nothing new is known: their clusters do not answer, or no pass of theirs was yet."""
    return frozenset(r.uid for r in world.own() if r.stale or not world.fleet.clusters[r.cluster].answers)


def restarted(world: RestlessWorld, before: Mapping[str, Replica]) -> Uids:
    """Return the replicas of which no copy will serve, because the pass changed the pods that they run."""
    own = {replica.uid: replica for replica in world.own()}
    return frozenset(
        uid
        for uid, replica in before.items()
        if uid in own and pods_of(own[uid]) != pods_of(replica) == world.pods.get(uid) and not world.remaining(uid)
    )


def has_answered(world: RestlessWorld, cluster: Cluster, there: Collection[Replica]) -> bool:
    """Tell whether a cluster need not take, or is known to have no node for, another replica."""
    if cluster.deleting or untolerated(world.deployment, cluster, *Effect):
        return True
    if not carries(cluster, world.deployment.cluster_selector):
        return True
    if not (cluster.ready and cluster.address and cluster.pools):
        return False
    (pool,) = cluster.pools
    taken = sum(copies_of(replica) for replica in there if replica.cluster == cluster.name)
    return pool.nodes - taken < world.deployment.profiles[0].engines[0].copies


def may_end_evicted(world: RestlessWorld, decided: Schedule, there: Collection[Replica]) -> bool:
    """Tell whether evicted replicas may end for lack of room: something is a candidate, and each has answered."""
    clusters = world.fleet.clusters.values()
    selected = any(carries(cluster, world.deployment.cluster_selector) for cluster in clusters)
    return decided.unplaced > 0 and selected and all(has_answered(world, each, there) for each in clusters)


def check_pass(world: RestlessWorld, happened: str) -> None:
    """Run a pass, and assert that it lowers the number that serves no further than it may."""
    clusters, asked = dict(world.fleet.clusters), world.deployment.replicas
    before = {replica.uid: replica for replica in world.own()}
    there = tuple(world.fleet.replicas.values())
    answer, dark = answering(world), unseen(world)
    serving, maybe = answer - dark, (answer & dark) | silent(world)
    copies = dict(world.serving)
    decided = world.reconcile()
    after = {replica.uid: replica for replica in world.own()}
    ended = {end.replica.uid: end.cause for end in decided.ending}
    assert before.keys() - after.keys() <= ended.keys()
    changed = restarted(world, before)
    everything = {r.uid: r for r in (*there, *world.fleet.replicas.values())}.values()
    driven_out = {uid for uid, cause in ended.items() if cause is EndCause.EVICTED}
    assert all(evicted(world.deployment, clusters.get(before[uid].cluster)) for uid in driven_out)
    exempt = driven_out if may_end_evicted(world, decided, everything) else set()
    note(f"{happened}; ended {ended}, changed {changed}, {serving=}, {maybe=}, {copies=}, {asked=}")
    gone = (ended.keys() | changed) - exempt
    scaled = {uid for uid, cause in ended.items() if cause is EndCause.SCALE_DOWN and maybe}
    rolled = {uid for uid, cause in ended.items() if cause is EndCause.ROLLED_OUT} | changed
    for spared, least in ((rolled, asked), (set[str](), asked - world.budget.unavailable)):
        took = gone - spared
        assert len(serving - (took - scaled)) >= min(least, len(serving)), "of those that are seen to serve"
        assert len((serving | maybe) - took) >= min(least, len(serving | maybe)), "of those that may serve"


@pytest.mark.proves("R38")
@given(st.data())
@examples(100)
def test_no_act_of_a_pass_lowers_the_number_that_serves(data: st.DataObject) -> None:
    world = RestlessWorld(data.draw)
    for _ in range(12):
        check_pass(world, world.live())


@given(st.data())
@examples(150)
def test_a_scale_down_amid_an_edit_ends_what_does_not_serve_first(data: st.DataObject) -> None:
    world = RestlessWorld(data.draw)
    for _ in range(2):
        check_pass(world, world.scale_amid_an_edit())
        world.recover()
        world.rescale()
        world.rounds(3)
