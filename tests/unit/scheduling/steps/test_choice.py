"""Which profile of a ClusterModel a replica is placed with: the best that any candidate hosts, before all else."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from modelplane.model.catalogue import Requires
from modelplane.model.conditions import Reason
from modelplane.model.deployment import Deployment, ModelRef
from modelplane.model.fleet import ClaimKind, Device, PodToleration
from modelplane.model.placement import EndCause, Schedule
from modelplane.model.refusal import CapabilityShort, MetadataDenied, NoRoom, NotMultiNode, SelectorMismatch
from modelplane.model.replica import Claim
from modelplane.model.rollout import Rollout
from modelplane.scheduling.words.report import explain
from modelplane.scheduling.words.wording import word
from unit.scheduling.catalogued import catalogued, offering, profile
from unit.scheduling.scene import GPU, Scene, cluster, gpu, places, replica, stamped

BIG = Requires(memory_per_gpu="141Gi")
H200 = offering(1, gpu(8, 140), name="h200", memory_per_gpu="141Gi")
H100 = offering(4, gpu(8, 80), name="h100", memory_per_gpu="80Gi")
FIRST, SECOND = profile("h200", requires=BIG), profile("any")


def chosen(decided: Schedule) -> list[tuple[str, str]]:
    """Return where replicas are, and with which profile."""
    return [(f"{each.cluster}/{each.index}", each.profile) for each in decided.placements]


def test_the_best_profile_comes_before_spread() -> None:
    """Two nodes of one cluster host the first profile: both replicas are there, though another cluster is empty."""
    scene = Scene([cluster("a", replace(H200, nodes=2)), cluster("b", H100)])
    assert chosen(scene.decide(catalogued(FIRST, SECOND, replicas=2))) == [("a/0", "h200"), ("a/1", "h200")]


def test_where_the_best_profile_has_no_room_the_next_one_is_used_and_the_status_says_why() -> None:
    scene = Scene([cluster("a", H200), cluster("b", H100)])
    ours = catalogued(FIRST, SECOND, replicas=3)
    decided = scene.decide(ours)
    assert sorted(profile for _, profile in chosen(decided)) == ["any", "any", "h200"]
    assert decided.unplaced == 0
    assert decided.profile_refusals["h200"] == {
        "a": NoRoom("h200", 1, 0, profile="h200", pool="h200"),
        "b": CapabilityShort("memoryPerGpu", "80Gi", "141Gi", profile="h200", pool="h100"),
    }
    assert explain(decided, ours).reasons == ()


def test_inside_a_cluster_a_profile_is_placed_on_the_first_pool_that_satisfies_it() -> None:
    scene = Scene([cluster("a", H100, H200)])
    (placed,) = scene.decide(catalogued(FIRST, SECOND)).placements
    assert (placed.profile, placed.engines[0].pool) == ("h200", "h200")


def test_memory_is_compared_as_the_box_says_it_and_else_as_the_device_does() -> None:
    declared = cluster("a", offering(1, gpu(8, 140), memory_per_gpu="141Gi"))
    reported = cluster("a", offering(1, gpu(8, 140)))
    bare = cluster("a", replace(H200, capabilities=None))
    assert chosen(Scene([declared]).decide(catalogued(FIRST))) == [("a/0", "h200")]
    for there in (reported, bare):
        refused = Scene([there]).decide(catalogued(FIRST)).refusals["a"]
        (name,) = (pool.name for pool in there.pools or ())
        assert refused == CapabilityShort("memoryPerGpu", "140Gi", "141Gi", profile="h200", pool=name)


def test_the_claim_asks_for_the_gpus_of_the_pool_by_their_driver_and_never_for_what_is_compared() -> None:
    own = f'device.attributes["{GPU}"].model == "h100"'
    (placed,) = Scene([cluster("a", H100)]).decide(catalogued(profile("p", 4, selectors=(own,)))).placements
    (engine,) = placed.engines
    assert engine.members[0].claims == (Claim("gpu", GPU, 4, (f'device.driver == "{GPU}"', own)),)


@pytest.mark.proves("R78")
def test_the_gpu_is_the_entry_that_capabilities_name_else_the_only_claimed_one_else_gpu() -> None:
    amd = Device("mi300", "gpu.amd.com", "gpu.amd.com", 8, capacity=(("memory", "192Gi"),))
    nic = Device("nic", "nic.example.com", "nic", 8, ClaimKind.DRA)
    named = offering(1, gpu(), amd, device="mi300")
    only = offering(1, amd)
    by_name = offering(1, nic, gpu())
    for pool, driver in ((named, "gpu.amd.com"), (only, "gpu.amd.com"), (by_name, GPU)):
        (placed,) = Scene([cluster("a", pool)]).decide(catalogued(profile("p"))).placements
        assert placed.engines[0].members[0].claims[0].device_class == driver


def test_a_pool_whose_gpu_is_not_known_is_refused_with_what_to_declare() -> None:
    amd = Device("mi300", "gpu.amd.com", "gpu.amd.com", 8)
    nic = Device("nic", "nic.example.com", "nic", 8)
    decided = Scene([cluster("a", offering(1, amd, nic))]).decide(catalogued(profile("p")))
    assert [each.reason for each in decided.refusals.values()] == ["CapabilityShort"]
    assert "device" in explain(decided, catalogued(profile("p"))).message


def test_two_entries_of_one_driver_are_told_apart_and_both_are_charged_where_either_may_be_given() -> None:
    """The claim is for the driver, and both entries are of its class: Kubernetes may take either."""
    mig = gpu(8, 10, name="mig")
    there = cluster("a", offering(1, mig, gpu(8, 80), device="gpu"))
    decided = Scene([there]).decide(catalogued(profile("p", 8), replicas=2))
    assert len(decided.placements) == 1
    assert decided.unplaced == 1


def test_engines_of_several_nodes_are_placed_only_where_pools_are_for_them() -> None:
    single = offering(4, gpu(8, 141), name="single", multi_node=False)
    several = offering(4, gpu(8, 141), name="several", multi_node=True)
    ours = catalogued(profile("gang", nodes=2))
    assert Scene([cluster("a", single)]).decide(ours).refusals == {"a": NotMultiNode(profile="gang", pool="single")}
    (placed,) = Scene([cluster("a", single, several)]).decide(ours).placements
    assert placed.engines[0].pool == "several"


def test_a_profile_goes_only_where_its_own_selector_allows() -> None:
    clusters = [cluster("a", H200, region="eu"), cluster("b", H200, region="us")]
    ours = catalogued(replace(FIRST, cluster_selector={"region": "us"}), replicas=2)
    decided = Scene(clusters).decide(ours)
    assert chosen(decided) == [("b/0", "h200")]
    assert decided.refusals["a"] == SelectorMismatch("region", "us", profile="h200")


def test_a_profile_whose_pods_a_cluster_does_not_take_leaves_the_cluster_to_the_others() -> None:
    ours = catalogued(replace(FIRST, acting=frozenset({"k8s.v1.cni.cncf.io/networks"})), SECOND)
    closed, opened = cluster("a", H200), replace(cluster("b", H200), pod_metadata=("k8s.v1.cni.cncf.io",))
    alone = Scene([closed]).decide(ours)
    assert chosen(alone) == [("a/0", "any")]
    assert alone.profile_refusals["h200"]["a"] == MetadataDenied("k8s.v1.cni.cncf.io/networks", profile="h200")
    assert chosen(Scene([closed, opened]).decide(ours)) == [("b/0", "h200")]


@pytest.mark.proves("P145")
def test_the_selector_of_the_model_holds_for_all_its_profiles() -> None:
    ours = catalogued(SECOND)
    ours = replace(ours, resolution=replace(ours.resolution, selector={"tier": "production"}))
    clusters = [cluster("a", H100), cluster("b", H100, tier="production")]
    assert chosen(Scene(clusters).decide(ours)) == [("b/0", "any")]


def test_the_message_lists_the_best_profile_first_and_counts_a_cluster_once_for_each() -> None:
    ours = catalogued(FIRST, profile("sixteen", 16))
    report = explain(Scene([cluster("a", H100), cluster("b", H100)]).decide(ours), ours)
    assert report.message == (
        "0 of 1 replicas scheduled: 0/2 clusters can take another: profile h200: 2 have no pool that "
        "fits (pool h100: "
        "memoryPerGpu 141Gi is needed, the pool declares 80Gi), profile sixteen: 2 have no pool that fits (pool h100: "
        "request gpu needs 16 devices of a node, which has 8 for it). Request fewer devices in a pod, or add a pool "
        "with more of them on a node. Require less in the profile, or add a pool that has it."
    )
    assert [(each.profile, each.reason, each.count) for each in report.reasons] == [
        ("h200", "CapabilityShort", 2),
        ("sixteen", "TooFewDevices", 2),
    ]


def test_scale_down_takes_the_least_preferred_profile_first_among_those_that_serve() -> None:
    ours = catalogued(FIRST, SECOND, replicas=3)
    scene = Scene([cluster("a", H200), cluster("b", H100)])
    scene.run(ours)
    scene.serve()
    decided = scene.decide(replace(ours, replicas=1))
    assert chosen(decided) == [("a/0", "h200")]
    assert {end.cause for end in decided.ending} == {EndCause.SCALE_DOWN}


@pytest.mark.proves("R80")
def test_a_replica_keeps_its_profile_when_a_better_one_finds_room() -> None:
    ours = catalogued(FIRST, SECOND)
    scene = Scene([cluster("b", H100)])
    scene.run(ours)
    scene.serve()
    scene.clusters["a"] = cluster("a", H200)
    assert chosen(scene.decide(ours)) == [("b/0", "any")]


def serving(*profiles: str, on: str = "a", pool: str = "h100") -> Scene:
    """Return a scene with a replica that serves on the first of these profiles."""
    ours = catalogued(*map(profile, profiles))
    scene = Scene([cluster(on, replace(H100, name=pool))])
    scene.run(ours)
    scene.serve()
    return scene


def test_a_profile_that_is_added_or_moved_moves_nobody() -> None:
    scene = serving("any")
    for profiles in ([profile("new"), profile("any")], [profile("any"), profile("new")]):
        decided = scene.decide(catalogued(*profiles))
        assert chosen(decided) == [("a/0", "any")]
        assert decided.rolling is None


@pytest.mark.proves("R82")
def test_an_edit_of_a_profile_rolls_out_to_the_replicas_on_it_and_to_no_other() -> None:
    ours = catalogued(profile("one", requires=BIG), profile("two"), replicas=2)
    scene = Scene([cluster("a", H200), cluster("b", H100)])
    scene.run(ours)
    scene.serve()
    edited = catalogued(profile("one", requires=BIG), profile("two", content="edited"), replicas=2)
    decided = scene.decide(edited)
    assert {each.profile for each in decided.placements if each.leaving or not each.updated} == {"two"}
    assert {each.profile for each in decided.placements if each.replica is None} == {"two"}


def test_a_requirement_that_the_own_pool_satisfies_still_moves_nobody() -> None:
    scene = serving("any")
    stricter = catalogued(profile("any", requires=Requires(memory_per_gpu="80Gi")))
    assert places(scene.decide(stricter)) == ["a/0"]
    assert scene.decide(stricter).rolling is None


def test_a_requirement_that_the_own_pool_does_not_satisfy_moves_the_replica_once_another_serves() -> None:
    scene = serving("any")
    scene.clusters["b"] = cluster("b", H200)
    assert places(scene.run(catalogued(profile("any", requires=BIG)))) == ["-a/0", "b/0"]


def test_a_profile_that_is_removed_leaves_its_replicas_to_the_others_and_they_stay_where_nothing_fits() -> None:
    scene = serving("old")
    left = catalogued(profile("left", requires=BIG))
    decided = scene.decide(left)
    assert places(decided) == ["a/0"]
    assert decided.rolling is not None
    scene.clusters["b"] = cluster("b", H200)
    assert [(each.profile, each.leaving) for each in scene.decide(left).placements] == [("old", True), ("left", False)]


def test_pinned_replicas_stay_and_new_ones_get_the_edit() -> None:
    scene = serving("any")
    edited = catalogued(profile("any", content="edited"), replicas=2, pinned=True)
    decided = scene.run(edited)
    assert places(decided) == ["a/0", "a/1"]
    assert [each.content for each in scene.replicas.values()] == ["content of any", "edited"]
    scene.serve()
    settled = scene.decide(edited)
    assert (settled.rolling, [each.updated for each in settled.placements]) == (None, [False, True])


TOLERATION = PodToleration("team", "Equal", "ml")

#: What is edited while the ClusterModel says something else than before, and whether it reaches a pinned replica.
EDITS: dict[str, tuple[Callable[[Deployment], Deployment], bool]] = {
    "nothing of the deployment": (lambda ours: ours, False),
    "its number of replicas": (lambda ours: replace(ours, replicas=1, created="2024-01-01"), False),
    "its cache, picker or drain": (lambda ours: replace(ours, choice="another"), True),
    "the name of its ClusterModel": (lambda ours: replace(ours, model=ModelRef("n", pinned=True)), True),
    "the profiles that it allows": (lambda ours: replace(ours, model=ModelRef("m", frozenset("x"), pinned=True)), True),
    "that it follows": (lambda ours: replace(ours, model=ModelRef("m")), True),
    "selectors that it follows": (
        lambda ours: replace(ours, cluster_selector={"tier": "x"}, rollout=Rollout(follow_selectors=True)),
        True,
    ),
    "selectors that it does not follow": (lambda ours: replace(ours, cluster_selector={"tier": "x"}), False),
}


@pytest.mark.parametrize(("edit", "reaches"), EDITS.values(), ids=EDITS)
def test_of_a_pinned_replica_edits_of_its_own_deployment_are_rolled_out_and_those_of_the_clustermodel_are_not(
    edit: Callable[[Deployment], Deployment], reaches: bool
) -> None:
    scene = serving("any")
    scene.clusters["b"] = cluster("b", H100, tier="x")
    decided = scene.decide(edit(catalogued(profile("any", content="edited"), pinned=True)))
    assert places(decided)[0] == ("-a/0" if reaches else "a/0")
    assert len(places(decided)) == (2 if reaches else 1)


def test_a_requirement_that_the_own_pool_does_not_satisfy_leaves_a_pinned_replica_where_it_is() -> None:
    scene = serving("any")
    scene.clusters["b"] = cluster("b", H200)
    decided = scene.decide(catalogued(profile("any", requires=BIG), pinned=True))
    assert (places(decided), decided.rolling) == (["a/0"], None)


@pytest.mark.parametrize(("content", "reaches"), [("", True), ("edited", False)], ids=["as it was", "edited"])
def test_what_its_pool_asks_for_reaches_a_pinned_replica_while_its_profile_says_what_it_said(
    content: str, reaches: bool
) -> None:
    scene = serving("any")
    scene.clusters["a"] = cluster("a", replace(H100, tolerations=(TOLERATION,)))
    decided = scene.decide(catalogued(profile("any", content=content), pinned=True))
    assert (decided.rolling is not None) is reaches


def test_engines_that_the_profile_expands_to_take_its_place_without_a_change() -> None:
    (own,) = catalogued(profile("any")).profiles
    scene = serving("any")
    plain = replace(catalogued(replace(own, name="", requires=None)), model=None)
    stated = replace(plain, profiles=(replace(plain.profiles[0], engines=_with_driver(plain.profiles[0].engines)),))
    decided = scene.decide(stated)
    assert decided.rolling is None
    assert places(decided) == ["a/0"]


def _with_driver(engines: tuple) -> tuple:  # type: ignore[type-arg]
    (engine,) = engines
    (member,) = engine.members
    plain = replace(member.requests[0], gpu=False, selectors=(f'device.driver == "{GPU}"',))
    return (replace(engine, members=(replace(member, requests=(plain,)),)),)


@pytest.mark.proves("R85")
def test_a_model_that_is_gone_holds_what_runs_and_places_nothing() -> None:
    scene = serving("any")
    gone = catalogued(replicas=2)
    gone = replace(gone, resolution=replace(gone.resolution, generation=None, problem="there is no ClusterModel m"))
    decided = scene.decide(gone)
    assert places(decided) == ["a/0"]
    assert (decided.unplaced, decided.ending) == (1, ())
    assert decided.rolling is None
    report = explain(decided, gone)
    assert (report.reason, report.message) == (
        Reason.MODEL_NOT_FOUND,
        "1 of 2 replicas scheduled: there is no ClusterModel m",
    )


def test_a_profile_that_cannot_be_served_keeps_its_replicas_as_they_are() -> None:
    scene = serving("any")
    decided = scene.decide(catalogued(profile("other"), any="tensor 8 contradicts 4"))
    assert places(decided) == ["a/0"]
    assert "tensor 8 contradicts 4" in decided.placements[0].why
    assert decided.rolling is None


def test_scaling_down_takes_the_last_profile_first_though_the_first_cannot_be_used_any_more() -> None:
    ours = catalogued(FIRST, SECOND, profile("third"), replicas=2)
    scene = Scene([cluster("a", H200), cluster("b", H100)])
    scene.run(ours)
    scene.serve()
    assert sorted(name for _, name in chosen(scene.decide(ours))) == ["any", "h200"]
    skipped = catalogued(SECOND, profile("third"), replicas=1, h200="tensor 8 contradicts 4")
    skipped = replace(skipped, resolution=replace(skipped.resolution, order=("h200", "any", "third")))
    assert [name for _, name in chosen(scene.decide(skipped))] == ["h200"]


def test_replicas_of_a_deployment_with_engines_are_taken_over_by_the_profile_that_makes_the_same_pods() -> None:
    ours = catalogued(profile("new"), profile("same"))
    before = replace(replica(ours, "a/0", stamped("h100")), content="content of same", served_content="content of same")
    engine = replace(before.engines[0], name="same")
    before = replace(before, engines=(engine,), served_engines=(engine,))
    decided = Scene([cluster("a", H100)], [before]).decide(ours)
    assert chosen(decided) == [("a/0", "same")]
    assert decided.rolling is None


@pytest.mark.proves("R84")
def test_of_pools_that_fall_short_the_one_that_comes_nearest_is_named() -> None:
    """A pool that fails at a later capability comes nearer, and of those short of memory the one with the most."""
    needs = profile("p", requires=Requires(memory_per_gpu="80Gi", precisions=("fp4",)))
    pools = (
        offering(1, name="little", memory_per_gpu="24Gi"),
        offering(1, name="more", memory_per_gpu="48Gi"),
        offering(1, name="enough", memory_per_gpu="80Gi", precisions=("fp8",)),
    )
    (short,) = Scene([cluster("a", *pools)]).decide(catalogued(needs)).refusals.values()
    assert (short.reason, short.pool) == ("CapabilityShort", "enough")
    assert word(short) == "pool enough: precisionSupport fp4 is needed, the pool declares fp8"
    (less,) = Scene([cluster("a", *pools[:2])]).decide(catalogued(needs)).refusals.values()
    assert (less.reason, less.pool) == ("CapabilityShort", "more")


def test_a_pool_that_is_for_several_nodes_comes_nearer_than_one_that_is_not_and_every_other_pool_is_named() -> None:
    fast = Requires(memory_per_gpu="80Gi", bandwidth="ib-400g-or-better")
    ours = catalogued(profile("gang", nodes=2, requires=fast))
    slow = offering(4, name="frontier", memory_per_gpu="141Gi", multi_node=True, bandwidth="ib-200g")
    single = offering(4, name="medium", memory_per_gpu="80Gi", multi_node=False)
    small = offering(4, name="small", memory_per_gpu="24Gi", multi_node=False)
    unsaid = offering(4, name="unsaid", memory_per_gpu="80Gi")
    decided = Scene([cluster("a", single, slow, small, unsaid)]).decide(ours)
    (refused,) = decided.refusals.values()
    assert (refused.reason, refused.pool) == ("CapabilityShort", "frontier")
    report = explain(decided, ours)
    needed = "multiNodeCapable true is needed by an engine of several nodes, the pool declares"
    assert report.message == (
        "0 of 1 replicas scheduled: 0/1 clusters can take another: profile gang: 1 has no pool that fits ("
        "pool frontier: interNodeBandwidth ib-400g-or-better is needed, the pool declares ib-200g; "
        f"pool unsaid: {needed} no multiNodeCapable (if its nodes have that, declare it); "
        f"pools medium, small: {needed} multiNodeCapable false). "
        "Require less in the profile, or add a pool that has it."
    )
    assert [each.reason for each in report.reasons] == ["CapabilityShort"]


def test_clusters_whose_nearest_pools_fall_short_alike_are_counted_together_whatever_their_other_pools_lack() -> None:
    ours = catalogued(profile("p", requires=Requires(memory_per_gpu="141Gi", precisions=("fp4",))))
    near = offering(1, name="near", memory_per_gpu="141Gi", precisions=("fp8",))
    others = [offering(1, name="other", memory_per_gpu=each) for each in ("24Gi", "48Gi")]
    decided = Scene([cluster("a", near, others[0]), cluster("b", near, others[1])]).decide(ours)
    (counted,) = explain(decided, ours).reasons
    assert (counted.reason, counted.count) == ("CapabilityShort", 2)
    assert counted.message == (
        "pool near: precisionSupport fp4 is needed, the pool declares fp8; "
        "pool other: memoryPerGpu 141Gi is needed, the pool declares 24Gi; "
        "pool other: memoryPerGpu 141Gi is needed, the pool declares 48Gi"
    )
