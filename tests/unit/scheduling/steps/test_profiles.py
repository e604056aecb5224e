"""What is decided about a profile names it: placements, refusals, selectors, edits that do not fit, and searches."""

from dataclasses import replace

from modelplane.model.deployment import Deployment, Engine
from modelplane.model.placement import Schedule
from modelplane.model.refusal import (
    Closest,
    NoDevice,
    NoPools,
    NoRoom,
    NotClaimable,
    Refusal,
    SearchBound,
    TooFewDevices,
)
from modelplane.scheduling.matching.options import Options
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.room.search import assign, fits_in_order
from modelplane.scheduling.search_budget import SearchBudget
from unit.scheduling.scene import (
    GPU,
    Scene,
    at_once,
    cluster,
    deployment,
    gpu,
    memory,
    nodes,
    pool,
    replica,
    request,
    stamped,
    standalone,
)


def named(one: Deployment, name: str = "fp8") -> Deployment:
    """Return the deployment with a name for its profile."""
    (profile,) = one.profiles
    return replace(one, profiles=(replace(profile, name=name),))


def refusals(*engines: Engine) -> dict[str, Refusal]:
    """Return why clusters cannot take a replica: one that has no pool, and one of two GPUs of 80Gi."""
    clusters = [cluster("bare"), cluster("small", pool(1, gpu(2, 80)))]
    return dict(Scene(clusters).decide(named(deployment(*engines, replicas=9))).refusals)


def test_a_placement_names_the_profile_whose_engines_it_has() -> None:
    ours = named(deployment(replicas=2))
    running = replace(replica(ours, "a/0"), profile="fp8")
    decided = Scene(nodes(a=2), [running]).decide(ours)
    assert [placement.profile for placement in decided.placements] == ["fp8", "fp8"]


def test_a_refusal_of_pools_names_the_profile_and_one_of_the_cluster_none() -> None:
    assert refusals(standalone(request(1, memory("141Gi"))))["small"] == NoDevice(
        "main", "gpu", 0, Closest("memory >= 141Gi", f"{GPU}, gpu", "80Gi"), profile="fp8", pool="x"
    )
    assert refusals(standalone(request(4))) == {
        "bare": NoPools(),
        "small": TooFewDevices("main", "gpu", 2, 4, profile="fp8", pool="x"),
    }
    assert refusals(standalone())["small"].profile == "fp8"
    assert refusals(standalone(request(2)))["small"] == NoRoom("main", 1, 0, profile="fp8", pool="x")


def test_an_engine_that_claims_nothing_and_a_search_that_ends_early_name_the_profile() -> None:
    (profile,) = named(
        deployment(replace(standalone(), members=(replace(standalone().members[0], requests=()),)))
    ).profiles
    where = layout(cluster("a", pool(1)))
    found = assign(Options(profile, SearchBudget()).on(where.shape), where, ((),), SearchBudget())
    assert found == NotClaimable("main", profile="fp8", pool="x")
    (profile,) = named(deployment()).profiles
    options = Options(profile, SearchBudget()).on(where.shape)
    spent = SearchBudget()
    spent.left = 0
    bound = SearchBound(spent.states, profile="fp8")
    assert assign(options, where, ((),), spent) == bound
    assert fits_in_order(options, where, ((),), spent) == bound
    assert Options(profile, spent).match(0, where.pools[0].hardware).refusal == bound


def test_a_selector_that_does_not_compile_names_its_profile() -> None:
    decided = Scene(nodes(a=1)).decide(named(deployment(standalone(request(1, "device.")))))
    assert [bad.profile for bad in decided.bad_selectors] == ["fp8"]


def test_an_edit_that_does_not_fit_names_the_profile_of_the_replica() -> None:
    ours = named(at_once(deployment(standalone(request(4), copies=3))))
    running = replace(replica(ours, "a/7", stamped(count=4)), profile="fp8")
    other = replica(deployment(name="other"), "a/0")
    decided: Schedule = Scene(nodes(a=2), [running, other]).decide(ours)
    assert [held.refusal for held in decided.held_edits] == [NoRoom("main", 3, 1, profile="fp8", pool="x")]


def test_what_one_profile_found_is_not_reported_as_what_another_found() -> None:
    """The same engine in two profiles: each has its own entry in what is remembered."""
    there = cluster("small", pool(1, gpu(2, 80)))
    for name in ("one", "two", "one"):
        decided = Scene([there]).decide(named(deployment(standalone(request(4))), name))
        assert decided.refusals["small"].profile == name
