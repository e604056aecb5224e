"""Single sentences of the rules that random fleets rarely reach."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Cluster, Effect, Pool, Taint
from modelplane.model.names import replica_resource
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, EndCause, FleetView, Footprint, Needs, Schedule, Stamp
from modelplane.model.replica import Replica
from modelplane.scheduling import schedule
from property.fleet import Fleet, Snapshot, decide
from property.oracles.selectors import ANY_GPU, MODEL_A, MODEL_B
from property.test_oracles import gpu


def wanted(*selectors: str, count: int = 8, replicas: int = 1, owner: str = "owner", copies: int = 1) -> Deployment:
    request = DeviceRequest("gpu", count, selectors or (ANY_GPU,))
    engine = Engine("e", (Member(Role.STANDALONE, 1, (request,)),), copies)
    return Deployment("team", f"model-{owner}", owner, (Profile((engine,)),), replicas=replicas)


def cluster(name: str, *pools: Pool) -> Cluster:
    return Cluster(name, ready=True, address="192.0.2.1", pools=pools)


def nodes(count: int, name: str = "x", model: str = "a") -> Pool:
    return Pool(name, count, (gpu(model=model),))


def running(deployment: Deployment, *clusters: Cluster) -> Fleet:
    fleet = Fleet({c.name: c for c in clusters})
    reconcile(fleet, deployment)
    fleet.serve()
    return fleet


def reconcile(fleet: Fleet, deployment: Deployment) -> Schedule:
    decided = decide(deployment, fleet.snapshot()).schedule
    fleet.carry_out(deployment, decided)
    fleet.tick()
    return decided


def places(decided: Schedule) -> list[tuple[str, int]]:
    return [(p.cluster, p.index) for p in decided.placements]


def kept(decided: Schedule) -> set[str]:
    return {p.replica.uid for p in decided.placements if p.replica is not None}


@pytest.mark.proves("R75")
@pytest.mark.parametrize(
    "cache",
    [CacheState.UNRESOLVED, Gap.ABSENT, Malformed("ModelCache", "weights", "spec.clusterSelector", "is no object")],
)
def test_a_cache_without_a_footprint_holds_new_placements_and_keeps_everything_else(
    cache: CacheState | Gap | Malformed,
) -> None:
    deployment = wanted(replicas=1)
    fleet = running(deployment, cluster("a", nodes(4)))
    own = fleet.own(deployment)
    more = replace(deployment, replicas=3, cache="weights")
    fleet.cache = cache
    decided = decide(more, fleet.snapshot()).schedule
    assert kept(decided) == {r.uid for r in own}
    assert (len(decided.placements), decided.unplaced, decided.ending) == (1, 2, ())
    assert decided.cache == cache


def test_a_cache_that_is_lost_keeps_evicted_and_homeless_replicas_that_serve() -> None:
    deployment = replace(wanted(replicas=2), cache="weights")
    fleet = Fleet({"a": cluster("a", nodes(1)), "b": cluster("b", nodes(1))})
    fleet.cache = Footprint("weights")
    reconcile(fleet, deployment)
    fleet.serve()
    fleet.clusters["a"] = replace(fleet.clusters["a"], taints=(Taint("k", Effect.NO_EXECUTE),))
    del fleet.clusters["b"]
    fleet.cache = Gap.ABSENT
    assert kept(decide(deployment, fleet.snapshot()).schedule) == set(fleet.replicas)


@pytest.mark.proves("R11")
def test_a_replica_that_is_being_deleted_still_holds_its_devices() -> None:
    first, second = wanted(owner="first"), wanted(owner="second")
    fleet = running(first, cluster("a", nodes(1)))
    fleet.replicas = {uid: replace(r, deleting=True) for uid, r in fleet.replicas.items()}
    assert decide(second, fleet.snapshot()).schedule.unplaced == 1
    fleet.bury()
    assert decide(second, fleet.snapshot()).schedule.unplaced == 0


@pytest.mark.proves("R29")
@pytest.mark.parametrize("gone", ["cluster", "pool"])
def test_a_replica_on_a_pool_or_cluster_that_does_not_exist_holds_nothing(gone: str) -> None:
    first, second = wanted(owner="first"), wanted(owner="second")
    fleet = running(first, cluster("a", nodes(1)))
    moved = cluster("b" if gone == "cluster" else "a", nodes(1, "x" if gone == "cluster" else "y"))
    fleet.clusters = {moved.name: moved}
    assert decide(second, fleet.snapshot()).schedule.unplaced == 0


@pytest.mark.proves("P62")
def test_a_hand_written_replica_without_owner_or_index_holds_its_devices() -> None:
    first, second = wanted(owner="first"), wanted(owner="second")
    fleet = running(first, cluster("a", nodes(1)))
    fleet.replicas = {uid: replace(r, owner="", index=None, resource="") for uid, r in fleet.replicas.items()}
    assert decide(second, fleet.snapshot()).schedule.unplaced == 1


def test_one_of_ours_that_is_neither_observed_nor_deleting_is_composed_again_under_its_resource_name() -> None:
    deployment = wanted(replicas=1)
    there = cluster("a", nodes(4))
    fleet = running(deployment, there)
    (ours,) = fleet.own(deployment)
    view = FleetView(clusters={"a": there}, candidates=(there,), siblings=(ours,), residents={"a": (ours,)})
    decided = schedule(deployment, view)
    assert isinstance(decided, Schedule)
    (placement,) = decided.placements
    assert placement.replica == ours
    assert replica_resource(placement.cluster, placement.index) == ours.resource


@pytest.mark.proves("R36")
def test_of_two_replicas_with_one_cluster_and_index_the_older_stays() -> None:
    deployment = wanted(replicas=2)
    fleet = running(deployment, cluster("a", nodes(4)))
    older, younger = sorted(fleet.own(deployment), key=lambda r: r.index or 0)
    fleet.replicas = {
        younger.uid: replace(younger, index=older.index, resource="", created="2024-09-01T00:00:00Z"),
        older.uid: older,
    }
    decided = decide(deployment, fleet.snapshot()).schedule
    assert kept(decided) == {older.uid}
    assert [(end.replica.uid, end.cause) for end in decided.ending] == [(younger.uid, EndCause.DUPLICATE)]


@pytest.mark.proves("R40")
@pytest.mark.parametrize("unknown", ["malformed", "no pools"])
def test_a_cluster_that_cannot_be_read_moves_nothing(unknown: str) -> None:
    deployment = wanted(replicas=1)
    there = cluster("a", nodes(4))
    fleet = running(deployment, there)
    (ours,) = fleet.own(deployment)
    states: dict[str, Cluster | Malformed] = {
        "malformed": Malformed("InferenceCluster", "a", "status.gpuPools", "is no list"),
        "no pools": replace(there, pools=None),
    }
    decided = schedule(
        deployment, FleetView(own=(ours,), clusters={"a": states[unknown]}, candidates=(), siblings=(ours,))
    )
    assert isinstance(decided, Schedule)
    assert kept(decided) == {ours.uid}
    assert not decided.placements[0].leaving


@pytest.mark.proves("R64")
def test_a_selector_that_does_not_compile_keeps_every_replica_and_names_the_position() -> None:
    deployment = wanted(replicas=2)
    fleet = running(deployment, cluster("a", nodes(4)))
    broken = replace(wanted("device.driver == (", replicas=3))
    decided = decide(broken, fleet.snapshot()).schedule
    assert kept(decided) == set(fleet.replicas)
    assert decided.ending == ()
    (bad,) = decided.bad_selectors
    assert (bad.engine, bad.request, bad.selector, bad.line) == ("e", "gpu", "device.driver == (", 1)
    assert bad.column >= 1
    assert bad.why
    assert decide(replace(broken, replicas=2), fleet.snapshot()).schedule.bad_selectors == (bad,)


def test_a_selector_that_does_not_compile_keeps_an_evicted_replica() -> None:
    fleet = running(wanted(), cluster("a", nodes(1)))
    fleet.clusters["a"] = replace(fleet.clusters["a"], taints=(Taint("k", Effect.NO_EXECUTE),))
    assert kept(decide(wanted("device.driver == ("), fleet.snapshot()).schedule) == set(fleet.replicas)


@pytest.mark.proves("R61")
def test_an_edit_that_selects_another_kind_moves_only_when_the_replacement_serves() -> None:
    fleet = running(wanted(MODEL_A), cluster("a", nodes(1, "x", "a"), nodes(1, "y", "b")))
    (old,) = fleet.replicas.values()
    decided = reconcile(fleet, wanted(MODEL_B))
    assert [(p.leaving, p.replica and p.replica.uid) for p in decided.placements] == [(True, old.uid), (False, None)]
    fleet.serve()
    assert [end.cause for end in reconcile(fleet, wanted(MODEL_B)).ending] == [EndCause.ROLLED_OUT]
    assert [engine.pool for r in fleet.replicas.values() for engine in r.engines] == ["y"]


@pytest.mark.proves("R61")
def test_two_deployments_that_wait_for_each_others_pools_both_stay_and_wait_for_room() -> None:
    there = cluster("a", nodes(1, "x", "a"), nodes(1, "y", "b"))
    fleet = running(wanted(MODEL_A, owner="first"), there)
    reconcile(fleet, wanted(MODEL_B, owner="second"))
    fleet.serve()
    swapped = (wanted(MODEL_B, owner="first"), wanted(MODEL_A, owner="second"))
    for _ in range(3):
        for deployment in swapped:
            decided = reconcile(fleet, deployment)
            (placement,) = decided.placements
            assert (placement.leaving, placement.updated, decided.unplaced) == (False, False, 0)
            assert decided.rolling is not None
            assert decided.rolling.no_room


@pytest.mark.proves("R63")
def test_of_two_growths_that_raced_the_younger_reverts_to_what_it_last_served_with() -> None:
    small = [wanted(owner=name, count=4) for name in ("first", "second")]
    fleet = running(small[0], cluster("a", Pool("x", 3, (gpu(count=6),))))
    reconcile(fleet, small[1])
    fleet.serve()
    before = dict(fleet.replicas)
    grown = [wanted(owner=name, count=4, copies=2) for name in ("first", "second")]
    start = fleet.snapshot()
    decided = [decide(deployment, start).schedule for deployment in grown]
    assert [d.placements[0].stamp for d in decided] == [Stamp.APPLY, Stamp.APPLY]
    for deployment, one in zip(grown, decided, strict=True):
        fleet.carry_out(deployment, one)
    assert reconcile(fleet, grown[0]).placements[0].stamp is Stamp.APPLY
    second = reconcile(fleet, grown[1])
    (placement,) = second.placements
    assert placement.stamp is Stamp.REVERT
    assert placement.replica is not None
    assert placement.engines == before[placement.replica.uid].engines
    assert second.held_edits


def test_a_replica_that_never_served_is_replaced_at_once() -> None:
    fleet = Fleet({"a": cluster("a", nodes(1)), "b": cluster("b", nodes(1))})
    reconcile(fleet, wanted())
    (first,) = fleet.replicas.values()
    del fleet.clusters[first.cluster]
    decided = reconcile(fleet, wanted())
    assert [end.replica for end in decided.ending] == [first]
    assert places(decided) == [("b" if first.cluster == "a" else "a", 0)]


def test_of_two_that_raced_for_one_node_the_older_keeps_it_and_once_serving_neither_moves() -> None:
    fleet = Fleet({"a": cluster("a", nodes(1))})
    racers = [wanted(owner=name) for name in ("first", "second")]
    start = fleet.snapshot()
    for deployment in racers:
        fleet.carry_out(deployment, decide(deployment, start).schedule)
        fleet.tick()
    assert len(fleet.replicas) == 2
    after = [reconcile(fleet, deployment) for deployment in racers]
    assert [len(decided.placements) for decided in after] == [1, 0]
    assert [end.cause for end in after[1].ending] == [EndCause.YIELDED]
    fleet.serve()
    assert [len(reconcile(fleet, deployment).placements) for deployment in racers] == [1, 0]


def test_a_search_over_more_states_than_the_bound_refuses_and_never_guesses() -> None:
    pools = tuple(nodes(1, f"p{i}") for i in range(7))
    request = DeviceRequest("gpu", 8, (ANY_GPU,))
    engines = tuple(Engine(f"e{i}", (Member(Role.STANDALONE, 1, (request,)),)) for i in range(8))
    deployment = Deployment("team", "model", "owner", (Profile(engines),))
    decided = decide(deployment, Snapshot({"a": cluster("a", *pools)})).schedule
    assert decided.placements == ()
    assert decided.refusals["a"].reason in {"SearchBound", "NoRoom"}


def test_no_candidate_at_all_keeps_what_runs_and_counts_none() -> None:
    fleet = running(wanted(replicas=2), cluster("a", nodes(2)))
    elsewhere = replace(wanted(replicas=3), cluster_selector={"region": "mars"})
    decided = decide(elsewhere, fleet.snapshot()).schedule
    assert kept(decided) == set(fleet.replicas)
    assert (decided.candidates, decided.unplaced) == (0, 1)


def test_replicas_of_a_namesake_in_another_namespace_are_not_ours_but_hold_their_devices() -> None:
    ours = wanted()
    theirs = replace(ours, namespace="other", uid="other-uid")
    fleet = running(theirs, cluster("a", nodes(1)))
    decided = decide(ours, fleet.snapshot()).schedule
    assert (places(decided), decided.unplaced) == ([], 1)


def stranger(name: str) -> Replica:
    return Replica("team", name, name, "a", ())


def test_a_replica_without_engines_holds_nothing() -> None:
    there = cluster("a", nodes(1))
    decided = decide(wanted(), Snapshot({"a": there}, (stranger("empty"),))).schedule
    assert places(decided) == [("a", 0)]


def test_a_replica_that_does_not_serve_yet_asks_for_the_replicas_of_its_cluster_alone() -> None:
    fleet = Fleet({"a": cluster("a", nodes(2))})
    reconcile(fleet, wanted())
    asked = decide(wanted(), fleet.snapshot()).needs
    assert asked == Needs(clusters=frozenset("a"), residents=frozenset("a"))


def test_a_growing_replica_asks_for_the_replicas_of_its_cluster_alone() -> None:
    fleet = running(wanted(), cluster("a", nodes(2)))
    asked = decide(wanted(copies=2), fleet.snapshot()).needs
    assert asked == Needs(clusters=frozenset("a"), residents=frozenset("a"))
