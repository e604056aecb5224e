"""What may end a replica, and that what serves is not taken away before something else serves in its stead."""

from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.placement import End, EndCause, Schedule
from modelplane.model.replica import Replica
from property.fleet import Snapshot, decide, observed
from property.histories import History
from property.oracles.ending import evicted, faults_of_scale_down, homeless, kept_leaving, leaves, yielding
from property.oracles.placing import matching_assignments
from property.strategies import examples


def is_as_asked(deployment: Deployment, replica: Replica, clusters: Mapping[str, Cluster]) -> bool:
    """Tell whether the replica is stamped as the deployment asks, on pools that match."""
    cluster = clusters.get(replica.cluster)
    return cluster is not None and replica.engines in list(matching_assignments(cluster, deployment))


def assert_listed_cause(end: End, deployment: Deployment, own: tuple[Replica, ...], now: Snapshot) -> None:
    """Assert that the named cause is true, whether the replica serves or not."""
    replica, cluster = end.replica, now.clusters.get(end.replica.cluster)
    edited = cluster is None or any(not is_as_asked(deployment, r, now.clusters) for r in own)
    true = {
        EndCause.SCALE_DOWN: len(own) > deployment.replicas,
        EndCause.EVICTED: evicted(deployment, cluster),
        EndCause.REPLACED: homeless(deployment, replica, cluster),
        EndCause.ROLLED_OUT: edited,
        EndCause.YIELDED: not replica.has_served and (edited or replica.uid in yielding(now.replicas, now.clusters)),
        EndCause.DUPLICATE: any(
            (r.cluster, r.index) == (replica.cluster, replica.index) and r.created <= replica.created
            for r in own
            if r.uid != replica.uid
        ),
    }
    assert true[end.cause], end


def assert_served_as_before(
    deployment: Deployment, own: tuple[Replica, ...], decided: Schedule, clusters: Mapping[str, Cluster]
) -> None:
    """Assert that no fewer serve than did or are asked for, evictions with nowhere to go aside."""
    kept = [p.replica for p in decided.placements if p.replica is not None]
    before = sum(r.has_served for r in own)
    nowhere = sum(
        end.replica.has_served and evicted(deployment, clusters.get(end.replica.cluster)) for end in decided.ending
    )
    pardoned = min(nowhere, decided.unplaced)
    assert sum(r.has_served for r in kept) >= min(deployment.replicas, before) - pardoned


@pytest.mark.proves("R31", "P85")
@given(st.data())
@examples(200)
def test_no_serving_replica_ends_except_for_the_listed_causes(data: st.DataObject) -> None:
    history = History(data.draw)
    for _ in range(6):
        now = history.fleet.snapshot()
        deployment, own = history.deployment, history.fleet.own(history.deployment)
        decided = history.reconcile().schedule
        composed = {p.replica.uid for p in decided.placements if p.replica is not None}
        ended = {end.replica.uid for end in decided.ending}
        assert composed | ended >= {r.uid for r in own}
        assert not composed & ended
        for end in decided.ending:
            assert_listed_cause(end, deployment, own, now)
        assert_served_as_before(deployment, own, decided, now.clusters)
        history.disturb()


@pytest.mark.proves("R39")
@given(st.data())
@examples(150)
def test_as_many_leaving_replicas_are_kept_as_replacements_do_not_serve_yet_the_oldest_longest(
    data: st.DataObject,
) -> None:
    history = History(data.draw)
    for _ in range(5):
        history.reconcile()
        history.disturb()
    deployment, now = history.deployment, history.fleet.snapshot()
    own = observed(deployment, now.replicas)
    decided = decide(deployment, now).schedule
    # A rollout has budgets of its own, which its own properties are about.
    assume(all(p.updated or (p.leaving and p.why) for p in decided.placements))
    assume(not any(end.cause is EndCause.ROLLED_OUT for end in decided.ending))
    leaving = [r for r in own if leaves(deployment, r, now.clusters)]
    composed = {p.replica.uid for p in decided.placements if p.replica is not None}
    could = [r for r in own if r not in leaving]
    staying = [r for r in could if r.uid in composed]
    assert faults_of_scale_down(deployment.replicas, could, staying, now.clusters) == []
    kept = {p.replica.uid for p in decided.placements if p.leaving and p.replica is not None and p.replica.has_served}
    expected = {r.uid for r in kept_leaving(deployment.replicas, leaving, staying, now.clusters)}
    if decided.unplaced == 0 or not any(evicted(deployment, now.clusters.get(r.cluster)) for r in leaving):
        assert kept == expected
    assert kept <= expected


@given(st.data())
@examples(100)
def test_a_replica_that_is_being_deleted_is_not_kept_and_its_place_is_not_reused(data: st.DataObject) -> None:
    history = History(data.draw)
    for _ in range(4):
        history.reconcile()
        history.delete_by_hand()
        gone = [r for r in history.fleet.replicas.values() if r.deleting and r.owner == history.deployment.uid]
        decided = decide(history.deployment, history.fleet.snapshot()).schedule
        assert not {p.replica.uid for p in decided.placements if p.replica} & {r.uid for r in gone}
        assert not {(p.cluster, p.index) for p in decided.placements} & {(r.cluster, r.index) for r in gone}
        history.disturb()


@given(st.data())
@examples(120)
def test_what_is_stamped_as_asked_is_left_as_it_is(data: st.DataObject) -> None:
    history = History(data.draw)
    for _ in range(5):
        deployment, now = history.deployment, history.fleet.snapshot()
        for placement in history.reconcile().schedule.placements:
            replica = placement.replica
            if replica is None or not is_as_asked(deployment, replica, now.clusters):
                continue
            if replica.served_engines in {None, replica.engines}:  # else it has grown, and may have to take that back
                assert placement.engines == replica.engines
        history.disturb()
