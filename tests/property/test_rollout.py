"""What serves through a rollout whatever else happens, that it ends where it can, and that it comes to rest."""

from hypothesis import given
from hypothesis import strategies as st

from property.rollouts import VOLUMES, RolloutHistory, taken
from property.strategies import examples
from property.test_convergence import overcommitted


@given(st.data())
@examples(120)
def test_without_mishaps_no_fewer_serve_than_the_budget_allows(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    least = min(history.deployment.replicas, history.count()) - history.budget.unavailable
    for _ in range(25):
        history.happen(
            history.reconcile,
            history.reconcile,
            history.load_some,
            history.observe_all,
            history.edit,
            history.edit_rival,
            history.restage,
            history.finish,
        )
        assert history.count() >= least
        assert len(history.own()) <= history.deployment.replicas + max(1, history.budget.surge)


@given(st.data())
@examples(150)
def test_whatever_happens_a_pass_takes_down_no_more_than_the_budget_allows(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    for _ in range(25):
        history.happen(
            history.edit, history.load_some, history.observe_all, history.flap, history.rescale, history.lose_cluster,
            history.evict, history.pause, history.edit_rival, history.restage, history.finish,
        )  # fmt: skip
        before = {replica.uid: replica for replica in history.own()}
        served = frozenset(
            uid
            for uid, r in before.items()
            if uid in history.serving and r.ready and r.proven and history.fleet.clusters[r.cluster].answers
        )
        decided = history.reconcile()
        gone = taken(before, history, decided, served)
        budget = history.budget
        least = min(history.deployment.replicas, len(served)) - max(1, budget.unavailable, budget.surge)
        assert not gone or len(served - set(gone)) >= least
        present = {replica.uid for replica in history.own()}
        assert not (gone and history.deployment.rollout.paused and present & set(gone))


@given(st.data())
@examples(120)
def test_a_rollout_ends_where_every_replica_can_serve_and_overcommits_nothing(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    for _ in range(15):
        history.happen(
            history.edit, history.reconcile, history.load_some, history.observe_all, history.flap, history.rescale,
            history.lose_cluster, history.evict, history.pause, history.edit_rival, history.restage, history.finish,
        )  # fmt: skip
    history.mend()
    history.rounds(40)
    decided = history.reconcile()
    assert overcommitted(history.fleet) == []
    assert len(history.own()) == history.deployment.replicas - decided.unplaced
    content, volume = history.deployment.profiles[0].content, VOLUMES[0] if history.deployment.cache else ""
    behind = [replica for replica in history.own() if (replica.content, replica.volume) != (content, volume)]
    stuck = decided.rolling is not None and decided.rolling.no_room and history.budget.unavailable == 0
    short = decided.unplaced > 0
    assert not behind or stuck or short


@given(st.data())
@examples(80)
def test_a_rollout_that_cannot_end_comes_to_rest(data: st.DataObject) -> None:
    history = RolloutHistory(data.draw)
    history.deployment = data.draw(st.just(history.deployment))
    for _ in range(6):
        history.happen(
            history.edit,
            history.reconcile,
            history.load_some,
            history.observe_all,
            history.rescale,
            history.restage,
            history.finish,
        )
    history.rounds(40)
    before = {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in history.own()}
    for _ in range(3):
        decided = history.reconcile()
        assert decided.ending == ()
        history.observe_all()
    assert {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in history.own()} == before
