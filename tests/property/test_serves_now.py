"""No act of a pass lowers the number of replicas that serve, whatever the world does meanwhile.

What serves is counted by what the world shows, before the pass and after its acts: what it ended, and what it changed
so that its pods restart. What the world itself does between passes is not counted. Exempt by name are replicas that the
owner scales away while others cannot be seen, and evictions once every candidate was asked and is full.
"""

from collections.abc import Collection, Mapping

from hypothesis import given, note
from hypothesis import strategies as st

from modelplane.model.fleet import Cluster, Effect
from modelplane.model.placement import EndCause, Schedule
from modelplane.model.replica import Replica
from property.oracles.ending import can_be_seen, evicted, served_last, serves_now
from property.oracles.taints import carries, untolerated
from property.played_rollout import copies_of, pods_of
from property.restless import RestlessWorld
from property.strategies import examples

Uids = frozenset[str]


def seen(own: Collection[Replica], clusters: Mapping[str, Cluster]) -> Uids:
    """Return the replicas that are seen to serve with what they carry."""
    return frozenset(r.uid for r in own if serves_now(r, clusters))


def unseen(own: Collection[Replica], clusters: Mapping[str, Cluster]) -> Uids:
    """Return the replicas that may serve: they last said so, and that is not of now."""
    return frozenset(r.uid for r in own if served_last(r) and not can_be_seen(r, clusters))


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


@given(st.data())
@examples(150)
def test_no_act_of_a_pass_lowers_the_number_that_serves(data: st.DataObject) -> None:
    world = RestlessWorld(data.draw)
    for _ in range(12):
        happened = world.live()
        clusters, asked = dict(world.fleet.clusters), world.deployment.replicas
        before = {replica.uid: replica for replica in world.own()}
        there = tuple(world.fleet.replicas.values())
        serving, maybe = seen(before.values(), clusters), unseen(before.values(), clusters)
        decided = world.reconcile()
        after = {replica.uid: replica for replica in world.own()}
        ended = {end.replica.uid: end.cause for end in decided.ending}
        assert before.keys() - after.keys() <= ended.keys()
        changed = {uid for uid, now in after.items() if uid in before and pods_of(now) != pods_of(before[uid])}
        everything = {r.uid: r for r in (*there, *world.fleet.replicas.values())}.values()
        driven_out = {uid for uid, cause in ended.items() if cause is EndCause.EVICTED}
        assert all(evicted(world.deployment, clusters.get(before[uid].cluster)) for uid in driven_out)
        exempt = driven_out if may_end_evicted(world, decided, everything) else set()
        note(f"{happened}; ended {ended}, changed {changed}, serving {sorted(serving)}, maybe {sorted(maybe)}, {asked}")
        gone = (ended.keys() | changed) - exempt
        scaled = {uid for uid, cause in ended.items() if cause is EndCause.SCALE_DOWN and maybe}
        rolled = {uid for uid, cause in ended.items() if cause is EndCause.ROLLED_OUT} | changed
        for spared, least in ((rolled, asked), (set[str](), asked - world.budget.unavailable)):
            took = gone - spared
            assert len(serving - (took - scaled)) >= min(least, len(serving)), "of those that are seen to serve"
            assert len((serving | maybe) - took) >= min(least, len(serving | maybe)), "of those that may serve"
