"""What serves through any history of edits of a ClusterModel, that it ends where it can, and that it comes to rest."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.placement import EndCause
from property.catalogue_rollouts import CatalogueHistory
from property.played_rollout import taken
from property.strategies import examples
from property.test_convergence import overcommitted


def _edits(history: CatalogueHistory) -> tuple[Callable[[], object], ...]:
    """Return the edits of the ClusterModel, and of what the deployment says of it."""
    return (
        history.edit_profile, history.require, history.add_or_remove, history.reorder, history.contradict, history.pin,
        history.leave, history.choose,
    )  # fmt: skip


def _time(history: CatalogueHistory) -> tuple[Callable[[], object], ...]:
    """Return what happens as time goes by, nothing of it a mishap."""
    return history.pass_some, history.load_some, history.observe_all, history.finish


@pytest.mark.proves("R83")
@given(st.data())
@examples(40)
def test_no_edit_of_the_catalogue_takes_down_more_than_the_budget_allows(data: st.DataObject) -> None:
    history = CatalogueHistory(data.draw)
    for _ in range(25):
        history.happen(*_edits(history), *_time(history), history.flap, history.lose_cluster, history.rescale)
        served = history.seen_to_serve()
        before = {replica.uid: replica for replica in history.own()}
        decided = history.reconcile()
        gone = taken(before, history, decided, served)
        least = min(history.deployment.replicas, len(served)) - history.budget.unavailable
        assert not gone or len(served) - len(gone) >= least


@given(st.data())
@examples(40)
def test_edits_of_the_catalogue_end_no_replica_but_by_a_rollout(data: st.DataObject) -> None:
    history = CatalogueHistory(data.draw)
    for _ in range(25):
        history.happen(*_edits(history), *_time(history))
        served = history.seen_to_serve()
        decided = history.reconcile()
        causes = {end.cause for end in decided.ending if end.replica.uid in served}
        assert causes <= {EndCause.ROLLED_OUT}
        if history.deployment.resolution.problem:
            assert not causes


@pytest.mark.proves("R83")
@given(st.data())
@examples(40)
def test_after_any_edits_of_the_catalogue_replicas_come_to_run_on_what_it_says(data: st.DataObject) -> None:
    history = CatalogueHistory(data.draw)
    for _ in range(12):
        history.happen(*_edits(history), *_time(history), history.reconcile, history.lose_cluster, history.evict)
    history.mend()
    history.rounds(40)
    decided = history.reconcile()
    assert overcommitted(history.fleet) == []
    contents = {profile.name: profile.content for profile in history.deployment.profiles}
    behind = [replica for replica in history.own() if contents.get(replica.profile) != replica.content]
    waits = decided.rolling is not None and decided.rolling.no_room
    assert not behind or waits or decided.unplaced
    before = {replica.uid: (replica.content, replica.cluster) for replica in history.own()}
    for _ in range(3):
        assert history.reconcile().ending == ()
        history.observe_all()
    assert {replica.uid: (replica.content, replica.cluster) for replica in history.own()} == before


def _of_the_model(history: CatalogueHistory) -> tuple[Callable[[], object], ...]:
    """Return the edits of the ClusterModel alone."""
    return history.edit_profile, history.require, history.add_or_remove, history.reorder, history.contradict


@given(st.data())
@examples(40)
def test_no_edit_of_the_catalogue_changes_or_ends_a_pinned_replica_that_its_deployment_leaves_alone(
    data: st.DataObject,
) -> None:
    history = CatalogueHistory(data.draw)
    history.pin()
    for _ in range(25):
        history.happen(*_of_the_model(history), *_time(history), history.choose, history.flap)
        before = {replica.uid: replica for replica in history.own() if replica.model and replica.proven}
        alone = {uid: each for uid, each in before.items() if each.choice == history.deployment.choice}
        decided = history.reconcile()
        assert not {end.replica.uid for end in decided.ending} & alone.keys()
        after = {replica.uid: replica for replica in history.own()}
        assert {uid: after[uid].content for uid in alone} == {uid: each.content for uid, each in alone.items()}


@given(st.data())
@examples(40)
def test_what_a_pinned_deployment_itself_asks_for_reaches_all_its_replicas(data: st.DataObject) -> None:
    history = CatalogueHistory(data.draw)
    history.pin()
    for _ in range(12):
        history.happen(*_of_the_model(history), *_time(history), history.choose, history.reconcile)
    history.mend()
    history.pin()
    history.rounds(40)
    decided = history.reconcile()
    behind = [replica for replica in history.own() if replica.choice != history.deployment.choice]
    assert not behind or decided.unplaced or (decided.rolling is not None and decided.rolling.no_room)
