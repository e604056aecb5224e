"""An edit of the ClusterModel that makes a better profile possible: nothing moves, and the status says how many."""

from dataclasses import replace

import pytest

from modelplane.model.catalogue import Requires
from modelplane.model.deployment import Deployment, Profile
from modelplane.model.fleet import Pool
from modelplane.model.placement import Needs, Stamp
from modelplane.model.refusal import NoRoom
from unit.scheduling.catalogued import catalogued, offering, profile
from unit.scheduling.scene import Scene, cluster, gpu

ANY, BETTER, BEST = profile("any"), profile("better"), profile("best", requires=Requires(memory_per_gpu="141Gi"))
SMALL = offering(2, gpu(8, 80), name="small")
LARGE = offering(1, gpu(8, 140), name="large", memory_per_gpu="141Gi")


def edited(*profiles: Profile, replicas: int = 2, pinned: bool = False) -> Deployment:
    """Return the deployment as the pass sees it that follows an edit of its ClusterModel."""
    ours = catalogued(*profiles, replicas=replicas, pinned=pinned)
    return replace(ours, resolution=replace(ours.resolution, edited=True))


def serving(*others: Pool) -> Scene:
    """Return a scene with two replicas that serve on profile any, which fill cluster a, and a cluster b."""
    scene = Scene([cluster("a", SMALL)])
    scene.run(catalogued(ANY, replicas=2))
    scene.serve()
    scene.clusters["b"] = cluster("b", *others)
    return scene


@pytest.mark.proves("R81")
@pytest.mark.parametrize(
    ("profiles", "pools", "improvable"),
    [
        ((BEST, ANY), (LARGE,), {"best": 1}),
        ((BEST, ANY), (replace(LARGE, nodes=5),), {"best": 2}),
        ((BEST, BETTER, ANY), (LARGE,), {"best": 1}),
        ((BETTER, ANY), (LARGE, SMALL), {"better": 2}),
        ((BEST, ANY), (SMALL,), {}),
        ((ANY, BEST), (LARGE,), {}),
        ((BEST,), (LARGE,), {}),
    ],
    ids=["one fits", "all fit", "the best first", "two pools", "none fits", "a worse one", "a rollout moves it"],
)
def test_it_counts_the_replicas_that_could_run_on_a_better_profile_and_moves_none(
    profiles: tuple[Profile, ...], pools: tuple[Pool, ...], improvable: dict[str, int]
) -> None:
    decided = serving(*pools).decide(edited(*profiles))
    assert decided.improvable == improvable
    if ANY in profiles:
        assert [(each.cluster, each.profile, each.leaving) for each in decided.placements] == [("a", "any", False)] * 2


def test_where_a_better_profile_has_no_room_it_says_why() -> None:
    decided = serving().decide(edited(BETTER, ANY))
    assert decided.improvable == {}
    assert decided.profile_refusals["better"]["a"] == NoRoom("better", 1, 0, profile="better", pool="small")


def test_pinned_replicas_could_too() -> None:
    assert serving(LARGE).decide(edited(BEST, ANY, pinned=True)).improvable == {"best": 1}


@pytest.mark.proves("R81")
def test_the_fleet_is_asked_for_in_the_pass_that_follows_an_edit_and_in_no_other() -> None:
    scene = serving(LARGE)
    scene.decide(catalogued(BEST, ANY, replicas=2))
    assert scene.asked == [Needs(frozenset("a"))]
    scene.decide(edited(BEST, ANY))
    assert scene.asked == [Needs(frozenset("a")), Needs(candidates=True, siblings=True)]
    scene.decide(edited(ANY, BEST))
    assert scene.asked == [Needs(frozenset("a"))]


def test_a_new_replica_takes_the_better_profile_and_scaling_down_ends_the_worst() -> None:
    scene = serving(LARGE)
    scene.run(catalogued(BEST, ANY, replicas=3))
    scene.serve()
    decided = scene.run(catalogued(BEST, ANY, replicas=2))
    assert sorted(each.profile for each in decided.placements) == ["any", "best"]


@pytest.mark.proves("R80")
def test_a_surge_takes_the_own_profile_or_a_better_one_and_never_a_worse_one() -> None:
    newer = profile("best", requires=Requires(memory_per_gpu="141Gi"), content="newer")
    scene = Scene([cluster("a", LARGE)])
    scene.run(catalogued(BEST, ANY))
    scene.serve()
    scene.clusters["b"] = cluster("b", SMALL)
    waits = scene.decide(catalogued(newer, ANY))
    assert [(each.cluster, each.profile, each.stamp) for each in waits.placements] == [("a", "best", Stamp.HOLD)]
    scene.clusters["c"] = cluster("c", LARGE)
    surges = scene.decide(catalogued(newer, ANY))
    assert [(each.cluster, each.profile, each.leaving) for each in surges.placements] == [
        ("a", "best", True),
        ("c", "best", False),
    ]
