"""Whatever happens to a cache and its clusters, no replica loses the volume it serves from or starts on part of one."""

from hypothesis import given
from hypothesis import strategies as st

from property.caches import STEPS, History, Step, carry_out
from property.strategies import examples


def described(claims: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {replica: f"{cluster}/{claim}" for replica, (cluster, claim) in sorted(claims.items())}


def watch(history: History, steps: list[Step]) -> None:
    """Carry out steps; assert of each that it takes no volume that is served from and lets none be mounted early."""
    for step in steps:
        mounted, published = history.mounts(), history.published()
        served_from = {name: claim for name, claim in history.serving().items() if claim in history.volumes()}
        carry_out(history, step)
        lost = {name: claim for name, claim in served_from.items() if claim not in history.volumes()}
        still = {name: claim for name, claim in lost.items() if history.mounts().get(name) == claim}
        assert described(still) == {}, step
        # A claim that was made anew behind the cache's back is seen at its next pass.
        there = {(*claim, uid) for claim, uid in history.clusters.uids.items()}
        whole = {(cluster, name) for cluster, name, _ in (there | published) & history.clusters.whole}
        begun = {name: claim for name, claim in history.mounts().items() if mounted.get(name) != claim}
        assert described({name: claim for name, claim in begun.items() if claim not in whole}) == {}, step


@given(st.lists(STEPS, min_size=4, max_size=25))
@examples(30)
def test_from_nothing_no_replica_starts_on_part_of_a_copy_or_loses_what_it_serves_from(steps: list[Step]) -> None:
    history = History()
    history.settle()
    watch(history, steps)


@given(st.lists(STEPS, min_size=1, max_size=25))
@examples(40)
def test_no_replica_that_serves_loses_its_volume_or_moves_to_part_of_a_copy(steps: list[Step]) -> None:
    history = History()
    history.serve()
    assert set(history.serving()) == {"a", "b", "c"}
    watch(history, steps)


@given(st.lists(STEPS, max_size=15))
@examples(15)
def test_when_all_is_well_again_every_replica_serves_from_what_is_asked_for_and_nothing_else_is_kept(
    steps: list[Step],
) -> None:
    history = History()
    history.serve()
    for step in steps:
        if step[0] != "delete_cluster":
            carry_out(history, step)
    for cluster in ("eu", "us"):
        history.mend(cluster)
    history.restore_cache()
    history.secret("3")
    history.select("")
    history.use("all", "weights")
    for _ in range(4):
        history.settle()
        for cluster in ("eu", "us"):
            history.end_jobs(cluster, "Complete")
        history.reconcile("cache", "fresh")
    history.settle()
    (published,) = {name for _, name, _ in history.published()}
    assert history.serving() == {"a": ("eu", published), "b": ("eu", published), "c": ("us", published)}
    assert history.volumes() == {("eu", published), ("us", published)}
