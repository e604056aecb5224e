"""The worked cases of docs/scheduling.md that are about room, spread and order. Notation: cluster/index."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest

from modelplane.model.catalogue import Capabilities
from modelplane.model.fleet import Cluster
from modelplane.model.placement import EndCause, Footprint
from modelplane.model.refusal import NoCacheStorage
from modelplane.model.replica import Replica
from modelplane.scheduling import explain
from unit.scheduling.scene import (
    Scene,
    cluster,
    deployment,
    gang,
    gpu,
    memory,
    nic,
    nodes,
    places,
    pool,
    pools_of,
    replica,
    request,
    stamped,
    standalone,
)


@dataclass(frozen=True)
class Fleet:
    """Nodes per cluster, our replicas that serve, how many are asked for; where they then are."""

    rule: str
    nodes: dict[str, int]
    running: tuple[str, ...]
    asked: int
    then: list[str]
    unplaced: int = 0


WHOLE_NODES = [
    Fleet("1: as many as asked for", {"a": 2}, (), 2, ["a/0", "a/1"]),
    Fleet("1: spread over clusters", {"a": 2, "b": 2}, (), 2, ["a/0", "b/0"]),
    Fleet("2: a full cluster takes no more", {"a": 4, "b": 1}, (), 3, ["a/0", "a/1", "b/0"]),
    Fleet("4: what runs is kept, what is missing is counted", {"a": 1}, ("a/0",), 2, ["a/0"], 1),
    Fleet("5: the cluster with fewest first", {"a": 4, "b": 4}, ("a/0",), 2, ["a/0", "b/0"]),
    Fleet("5: the lowest free index", {"a": 4}, ("a/0", "a/2"), 3, ["a/0", "a/1", "a/2"]),
    Fleet("6: fewer go from where most are", {"a": 4, "b": 4}, ("a/0", "a/1", "b/3"), 2, ["a/0", "b/3"]),
]


@pytest.mark.proves("R96", "R99", "R100")
@pytest.mark.parametrize("case", WHOLE_NODES, ids=lambda case: case.rule)
def test_replicas_of_whole_nodes_are_placed_as_the_worked_case_says(case: Fleet) -> None:
    ours = deployment(replicas=case.asked)
    decided = Scene(nodes(**case.nodes), [replica(ours, place) for place in case.running]).decide(ours)
    assert (places(decided), decided.unplaced) == (case.then, case.unplaced)
    assert explain(decided, ours).scheduled is (case.unplaced == 0)


@pytest.mark.proves("R97")
def test_2_three_replicas_on_two_equal_clusters_are_two_and_one() -> None:
    decided = Scene(nodes(a=4, b=4)).decide(deployment(replicas=3))
    assert sorted(Counter(p.cluster for p in decided.placements).values()) == [1, 2]


@pytest.mark.proves("R101")
def test_6_the_cause_of_a_replica_that_ends_is_the_scale_down() -> None:
    ours = deployment(replicas=2)
    decided = Scene(nodes(a=4, b=4), [replica(ours, place) for place in ("a/0", "a/1", "b/3")]).decide(ours)
    assert [(end.replica.index, end.cause) for end in decided.ending] == [(1, EndCause.SCALE_DOWN)]


@pytest.mark.proves("R103")
def test_8_a_node_is_taken_while_another_deployment_holds_it_and_free_when_its_pool_is_gone() -> None:
    ours, other = deployment(), deployment(name="other")
    held = Scene(nodes(a=1), [replica(other, "a/0")]).decide(ours)
    assert (places(held), held.unplaced) == ([], 1)
    gone = Scene(nodes(a=1), [replica(other, "a/0", stamped("renamed"))]).decide(ours)
    assert places(gone) == ["a/0"]


def one_gpu(number: int) -> Replica:
    return replica(deployment(name=f"one-{number}"), "a/0", stamped(count=1))


@pytest.mark.proves("R111")
@pytest.mark.parametrize(("present", "placed"), [(7, ["a/0"]), (8, [])])
def test_16_a_node_of_8_takes_eight_deployments_of_one_gpu_and_no_ninth(present: int, placed: list[str]) -> None:
    ours = deployment(standalone(request(1)))
    assert places(Scene(nodes(a=1), map(one_gpu, range(present))).decide(ours)) == placed


@pytest.mark.proves("R112")
@pytest.mark.parametrize(("count", "placed"), [(1, []), (2, ["a/0"])])
def test_17_a_request_for_a_whole_node_is_not_placed_on_a_node_with_one_held_gpu(count: int, placed: list[str]) -> None:
    decided = Scene(nodes(a=count), [one_gpu(0)]).decide(deployment())
    assert places(decided) == placed
    assert [refusal.reason for refusal in decided.refusals.values()] == (["NoRoom"] if not placed else [])


def test_18_two_nodes_of_8_take_four_replicas_of_4_and_no_fifth() -> None:
    decided = Scene(nodes(a=2)).decide(deployment(standalone(request(4)), replicas=5))
    assert (len(decided.placements), decided.unplaced) == (4, 1)


@pytest.mark.proves("R113")
def test_18_two_pods_of_4_can_block_two_of_three_nodes_and_one_is_left() -> None:
    halves = [replica(deployment(name=name), "a/0", stamped(count=4)) for name in ("one", "two")]
    decided = Scene(nodes(a=3), halves).decide(deployment(replicas=2))
    assert (places(decided), decided.unplaced) == (["a/0"], 1)


@pytest.mark.proves("R114", "P22")
@pytest.mark.parametrize(("count", "placed"), [(2, 0), (3, 1)])
def test_19_copies_stand_on_distinct_nodes(count: int, placed: int) -> None:
    decided = Scene(nodes(a=count)).decide(deployment(standalone(request(1), copies=3)))
    assert (len(decided.placements), decided.unplaced) == (placed, 1 - placed)


def test_19_two_replicas_of_two_copies_share_two_nodes_of_two_gpus() -> None:
    decided = Scene([cluster("a", pool(2, gpu(2)))]).decide(deployment(standalone(request(1), copies=2), replicas=3))
    assert (places(decided), decided.unplaced) == (["a/0", "a/1"], 1)


@pytest.mark.proves("R115")
def test_20_a_replica_of_a_namesake_in_another_namespace_is_not_ours_and_holds_its_devices() -> None:
    ours, theirs = deployment(replicas=2), deployment(replicas=2, namespace="other")
    scene = Scene(nodes(a=3))
    scene.run(theirs)
    decided = scene.run(ours)
    assert (len(decided.placements), decided.unplaced) == (1, 1)
    assert all(p.replica is None for p in decided.placements)
    scene.serve()
    assert len(scene.decide(theirs).placements) == 2


@pytest.mark.proves("R116")
def test_21_of_two_replicas_on_one_node_the_older_keeps_it_and_a_serving_one_never_moves() -> None:
    first, second = deployment(name="first"), deployment(name="second")
    scene = Scene(nodes(a=1))
    decisions = [(one, scene.decide(one)) for one in (first, second)]
    for one, decided in decisions:
        assert places(decided) == ["a/0"]
        scene.carry_out(one, decided)
    late = scene.run(second)
    assert [end.cause for end in late.ending] == [EndCause.YIELDED]
    assert (places(late), late.unplaced) == ([], 1)
    assert places(scene.run(first)) == ["a/0"]
    scene.serve()
    assert [len(scene.run(one).placements) for one in (first, second)] == [1, 0]


def test_21_who_yields_is_placed_elsewhere_in_the_same_pass() -> None:
    first, second = deployment(name="first"), deployment(name="second")
    raced = [replica(first, "a/0", serves=False, age=2), replica(second, "a/0", serves=False, age=1)]
    decided = Scene(nodes(a=1, b=1), raced).decide(second)
    assert places(decided) == ["b/0"]
    assert [end.replica for end in decided.ending] == [raced[1]]


@pytest.mark.proves("R119")
@pytest.mark.parametrize(("count", "unplaced"), [(1, 1), (2, 0)])
def test_24_a_request_for_any_charges_every_kind_it_matches(count: int, unplaced: int) -> None:
    big, small = gpu(1, 141, "big"), gpu(1, 24, "small")
    any_one, big_one = deployment(standalone(request(1))), deployment(standalone(request(1, memory("141Gi"))), name="b")
    scene = Scene([cluster("a", pool(count, big, small))])
    assert scene.run(any_one).unplaced == 0
    assert scene.run(big_one).unplaced == unplaced


@pytest.mark.proves("R121", "P57")
def test_26_the_first_pool_of_a_cluster_is_filled_first() -> None:
    there = cluster("a", pool(1, gpu(1, 24), name="l4"), pool(2, gpu(1, 80), name="h100"))
    decided = Scene([there]).decide(deployment(standalone(request(1, memory("20Gi"))), replicas=3))
    assert [pools_of(p)["main"] for p in decided.placements] == ["l4", "h100", "h100"]


def kinds() -> list[Cluster]:
    """Return a cluster of A100s, one of H200s and two of L4s, which have least room."""
    sizes = {"a100": (4, 80), "h200": (4, 140), "l4-one": (1, 22), "l4-two": (1, 22)}
    return [cluster(name, pool(count, gpu(8, gib, model=name))) for name, (count, gib) in sizes.items()]


@pytest.mark.proves("R72", "R125")
@pytest.mark.parametrize(
    ("replicas", "placed"),
    [
        (1, {"l4"}),
        (2, {"l4-one", "l4-two"}),
        (3, {"l4-one", "l4-two", "a100"}),
        (4, {"l4-one", "l4-two", "a100", "h200"}),
    ],
)
def test_30_after_spread_the_least_capable_devices_that_suffice_are_taken(replicas: int, placed: set[str]) -> None:
    small = deployment(standalone(request(1, memory("20Gi"))), replicas=replicas)
    found = {each.cluster for each in Scene(kinds()).decide(small).placements}
    assert (found if replicas > 1 else {name.partition("-")[0] for name in found}) == placed
    large = deployment(standalone(request(1, memory("100Gi"))), replicas=1)
    assert places(Scene(kinds()).decide(large)) == ["h200/0"]


def fabrics(**several: bool | None) -> list[Cluster]:
    """Return two L4s free, a cluster of A100s, and one of H200s with NICs, which declares what `several` says."""
    h200 = pool(2, gpu(8, 141, model="h200"), nic(8))
    declared = replace(h200, capabilities=Capabilities(multi_node=several["h200"])) if several else h200
    kinds = {
        "l4-one": pool(1, gpu(1, 22)),
        "l4-two": pool(1, gpu(1, 22)),
        "a100": pool(2, gpu(8, 80)),
        "h200": declared,
    }
    return [cluster(name, of) for name, of in kinds.items()]


@pytest.mark.proves("R128")
def test_33_small_replicas_leave_the_nodes_of_gangs_whole_while_others_have_room() -> None:
    small = deployment(standalone(request(1, memory("20Gi"))), replicas=4)
    scene = Scene(fabrics())
    found = Counter(each.cluster for each in scene.run(small).placements)
    assert found == {"l4-one": 1, "l4-two": 1, "a100": 2}
    large = [request(8, memory("120Gi"))]
    assert places(scene.run(deployment(gang(large, large), name="large"))) == ["h200/0"]


@pytest.mark.proves("R129")
@pytest.mark.parametrize(
    ("several", "where"), [(True, {"a100": 2}), (None, {"a100": 2}), (False, {"a100": 1, "h200": 1})]
)
def test_34_whether_nodes_are_for_gangs_is_what_the_pool_declares_else_whether_it_has_network_devices(
    several: bool | None, where: dict[str, int]
) -> None:
    small = deployment(standalone(request(1, memory("40Gi"))), replicas=2)
    assert Counter(each.cluster for each in Scene(fabrics(h200=several)).decide(small).placements) == where
    whole = deployment(standalone(request(8, memory("40Gi"))), replicas=2)
    spread = Counter(each.cluster for each in Scene(fabrics(h200=several)).decide(whole).placements)
    assert spread == {"a100": 1, "h200": 1}


def test_devices_of_unknown_memory_come_after_all_that_are_known() -> None:
    unknown = cluster("unknown", pool(9, replace(gpu(8), capacity=())))
    known = cluster("known", pool(1, gpu(8, 140)))
    assert places(Scene([unknown, known]).decide(deployment(standalone(request(1))))) == ["known/0"]


@pytest.mark.proves("R73", "P63")
def test_a_replica_is_not_placed_where_its_cache_can_never_be_staged_while_another_cluster_could() -> None:
    ours = replace(deployment(replicas=2), cache="weights")
    without = replace(cluster("a", pool(4)), stages_caches=False)
    scene = Scene([without, cluster("b", pool(1))])
    scene.cache = Footprint("weights")
    decided = scene.decide(ours)
    assert (places(decided), decided.unplaced) == (["b/0"], 1)
    assert decided.refusals["a"] == NoCacheStorage("weights")
    scene.cache = Footprint("weights", volumes={"a": "weights-1"})
    assert places(scene.decide(ours)) == ["a/0", "b/0"]


def test_where_no_cluster_can_stage_a_cache_its_replica_is_placed_and_waits() -> None:
    scene = Scene([replace(cluster("a", pool(4)), stages_caches=False)])
    scene.cache = Footprint("weights")
    assert places(scene.decide(replace(deployment(), cache="weights"))) == ["a/0"]


def test_an_index_is_not_reused_while_its_replica_is_being_deleted() -> None:
    ours = deployment()
    going = replace(replica(ours, "a/0"), deleting=True)
    assert places(Scene(nodes(a=2), [going]).decide(ours)) == ["a/1"]
    assert Scene(nodes(a=1), [going]).decide(ours).unplaced == 1
