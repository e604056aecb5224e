"""What serves through a rollout whatever else happens, that it ends where it can, and that it comes to rest."""

from hypothesis import given
from hypothesis import strategies as st

from property.rollouts import VOLUMES, Played, taken
from property.strategies import examples
from property.test_convergence import overcommitted


@given(st.data())
@examples(120)
def test_without_mishaps_no_fewer_serve_than_the_budget_allows(data: st.DataObject) -> None:
    played = Played(data.draw)
    least = min(played.deployment.replicas, played.count()) - played.budget.unavailable
    for _ in range(25):
        played.happen(
            played.reconcile,
            played.reconcile,
            played.load_some,
            played.observe_all,
            played.edit,
            played.edit_rival,
            played.restage,
            played.finish,
        )
        assert played.count() >= least
        assert len(played.own()) <= played.deployment.replicas + max(1, played.budget.surge)


@given(st.data())
@examples(150)
def test_whatever_happens_a_pass_takes_down_no_more_than_the_budget_allows(data: st.DataObject) -> None:
    played = Played(data.draw)
    for _ in range(25):
        played.happen(
            played.edit, played.load_some, played.observe_all, played.flap, played.rescale, played.lose_cluster,
            played.evict, played.pause, played.edit_rival, played.restage, played.finish,
        )  # fmt: skip
        before = {replica.uid: replica for replica in played.own()}
        served = frozenset(
            uid
            for uid, r in before.items()
            if uid in played.serving and r.ready and r.proven and played.fleet.clusters[r.cluster].answers
        )
        decided = played.reconcile()
        gone = taken(before, played, decided, served)
        least = min(played.deployment.replicas, len(served)) - max(1, played.budget.unavailable, played.budget.surge)
        assert not gone or len(served - set(gone)) >= least
        assert not (gone and played.deployment.rollout.paused and {replica.uid for replica in played.own()} & set(gone))


@given(st.data())
@examples(120)
def test_a_rollout_ends_where_every_replica_can_serve_and_overcommits_nothing(data: st.DataObject) -> None:
    played = Played(data.draw)
    for _ in range(15):
        played.happen(
            played.edit, played.reconcile, played.load_some, played.observe_all, played.flap, played.rescale,
            played.lose_cluster, played.evict, played.pause, played.edit_rival, played.restage, played.finish,
        )  # fmt: skip
    played.mend()
    played.rounds(40)
    decided = played.reconcile()
    assert overcommitted(played.fleet) == []
    assert len(played.own()) == played.deployment.replicas - decided.unplaced
    content, volume = played.deployment.profiles[0].content, VOLUMES[0] if played.deployment.cache else ""
    behind = [replica for replica in played.own() if (replica.content, replica.volume) != (content, volume)]
    stuck = decided.rolling is not None and decided.rolling.no_room and played.budget.unavailable == 0
    short = decided.unplaced > 0
    assert not behind or stuck or short


@given(st.data())
@examples(80)
def test_a_rollout_that_cannot_end_comes_to_rest(data: st.DataObject) -> None:
    played = Played(data.draw)
    played.deployment = data.draw(st.just(played.deployment))
    for _ in range(6):
        played.happen(
            played.edit,
            played.reconcile,
            played.load_some,
            played.observe_all,
            played.rescale,
            played.restage,
            played.finish,
        )
    played.rounds(40)
    before = {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in played.own()}
    for _ in range(3):
        decided = played.reconcile()
        assert decided.ending == ()
        played.observe_all()
    assert {replica.uid: (replica.content, replica.volume, replica.cluster) for replica in played.own()} == before
