"""What serves through a rollout whatever else happens, that it ends where it can, and that it comes to rest."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from property.played_rollout import VOLUMES, taken
from property.rollouts import RolloutHistory
from property.strategies import examples
from property.test_convergence import overcommitted


def _mishaps(history: RolloutHistory) -> tuple[Callable[[], object], ...]:
    """Return all that may happen, but for a pass of the deployment."""
    return (
        history.edit, history.recopy, history.reselect, history.restage, history.upgrade, history.rescale,
        history.pause, history.pass_some, history.load_some, history.observe_all, history.finish, history.flap,
        history.lose_cluster, history.evict, history.edit_rival, history.write_by_hand,
    )  # fmt: skip


@pytest.mark.proves("R61")
@given(st.data())
@examples(120)
def test_without_disturbances_no_fewer_replicas_serve_than_the_budget_allows(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    least = min(history.deployment.replicas, history.count()) - history.budget.unavailable
    for _ in range(25):
        history.happen(
            history.reconcile, history.reconcile, history.pass_some, history.load_some, history.observe_all,
            history.edit, history.recopy, history.reselect, history.restage, history.upgrade, history.edit_rival,
            history.write_by_hand, history.finish,
        )  # fmt: skip
        assert history.count() >= least
        assert len(history.own()) <= history.deployment.replicas + max(1, history.budget.surge)


@pytest.mark.proves("R61")
@given(st.data())
@examples(150)
def test_edits_and_rollbacks_that_follow_each_other_before_pods_tell_take_no_more_than_one_would(
    data: st.DataObject,
) -> None:
    history = RolloutHistory(data.draw)
    least = min(history.deployment.replicas, history.count()) - history.budget.unavailable
    for _ in range(30):
        history.happen(history.toggle, history.reconcile, history.pass_all, history.come_up)
        assert history.count() >= least


@pytest.mark.proves("R35", "R61", "P76")
@given(st.data())
@examples(150)
def test_whatever_happens_a_pass_takes_down_no_more_than_the_budget_allows(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    for _ in range(25):
        history.happen(*_mishaps(history))
        served = history.seen_to_serve()
        before = {replica.uid: replica for replica in history.own()}
        decided = history.reconcile()
        gone = taken(before, history, decided, served)
        least = min(history.deployment.replicas, len(served)) - history.budget.unavailable
        assert not gone or len(served) - len(gone) >= least
        present = {replica.uid for replica in history.own()}
        assert not (gone and history.deployment.rollout.paused and present & set(gone))


@pytest.mark.proves("R61")
@given(st.data())
@examples(120)
def test_a_rollout_ends_where_every_replica_can_serve_and_overcommits_nothing(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    for _ in range(15):
        history.happen(*_mishaps(history), history.reconcile, history.reconcile)
    history.mend()
    history.rounds(40)
    decided = history.reconcile()
    assert overcommitted(history.fleet) == []
    assert len(history.own()) == history.deployment.replicas - decided.unplaced
    content, volume = history.deployment.profiles[0].content, VOLUMES[0] if history.deployment.cache else ""
    behind = [replica for replica in history.own() if (replica.content, replica.volume) != (content, volume)]
    waits = decided.rolling is not None and decided.rolling.no_room
    stuck = (waits and history.budget.unavailable == 0) or decided.held_edits
    short = decided.unplaced > 0
    assert not behind or stuck or short


@pytest.mark.proves("R61")
@given(st.data())
@examples(80)
def test_a_rollout_that_cannot_complete_settles(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    for _ in range(6):
        history.happen(
            history.edit, history.recopy, history.reselect, history.upgrade, history.reconcile, history.pass_some,
            history.load_some, history.observe_all, history.rescale, history.restage, history.write_by_hand,
            history.finish,
        )  # fmt: skip
    history.rounds(40)
    before = {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in history.own()}
    for _ in range(3):
        decided = history.reconcile()
        assert decided.ending == ()
        history.observe_all()
    assert {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in history.own()} == before
