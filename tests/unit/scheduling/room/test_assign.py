"""Putting the engines of a replica on the pools of a cluster, and the cluster's reason where they find no place."""

import pytest

from modelplane.model.deployment import Engine, Profile
from modelplane.model.fleet import ClaimKind, Cluster, Pool
from modelplane.model.refusal import Closest, NoDevice, NoRoom, NotClaimable, Refusal, SearchBound, TooFewDevices
from modelplane.scheduling.matching.options import Options
from modelplane.scheduling.matching.ways import stamp
from modelplane.scheduling.pools.groups import Charge
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.room.search import assign, fits_in_order
from modelplane.scheduling.search_budget import SearchBudget
from unit.scheduling.scene import GPU, NIC, cluster, gang, gpu, memory, nic, pool, request, standalone


def empty(there: Cluster) -> Charge:
    return ((),) * len(layout(there).pools)


def outcome(there: Cluster, *engines: Engine) -> list[str] | Refusal:
    """Return the pool of each engine on an empty cluster, or the refusal."""
    where, options = layout(there), Options(Profile(engines), SearchBudget())
    found = assign(options.on(where.shape), where, empty(there), options.budget)
    return found if isinstance(found, Refusal) else [engine.pool for engine in stamp(engines, found, where)]


def more(there: Cluster, *engines: Engine) -> int:
    where, options = layout(there), Options(Profile(engines), SearchBudget())
    found = fits_in_order(options.on(where.shape), where, empty(there), options.budget)
    assert not isinstance(found, SearchBound)
    return 0 if isinstance(found, Refusal) else sum(times for _, times in found)


def engines(*counts: int) -> list[Engine]:
    return [standalone(request(count), name=f"e{at}") for at, count in enumerate(counts)]


def test_engines_take_the_first_pools_in_declared_order_that_host_all_of_them() -> None:
    there = cluster("a", pool(1, name="x"), pool(2, name="y"))
    assert outcome(there, *engines(8)) == ["x"]
    assert outcome(there, *engines(8, 8)) == ["x", "y"]
    assert outcome(there, *engines(8, 8, 8)) == ["x", "y", "y"]
    assert outcome(there, *engines(4, 4, 8)) == ["x", "x", "y"]


def test_an_engine_goes_back_to_a_later_pool_where_a_later_engine_needs_the_first() -> None:
    there = cluster("a", pool(1, gpu(8, 80), name="x"), pool(1, gpu(8, 40), name="y"))
    assert outcome(there, standalone(name="any"), standalone(request(8, memory("80Gi")), name="big")) == ["y", "x"]


@pytest.mark.proves("R16")
def test_a_member_that_could_claim_elsewhere_is_not_left_claimless() -> None:
    synthetic, real = pool(2, gpu(8), nic(), name="synthetic"), pool(2, gpu(8), nic(1, ClaimKind.DRA), name="real")
    both = gang([request(1, NIC, name="nic")], [request()])
    assert outcome(cluster("a", synthetic), both) == ["synthetic"]
    assert outcome(cluster("a", synthetic, real), both) == ["real"]
    assert outcome(cluster("a", synthetic, pool(0, gpu(8), nic(1, ClaimKind.DRA), name="no nodes")), both) == [
        "synthetic"
    ]


def test_members_that_want_different_pools_have_none() -> None:
    pools = pool(2, gpu(8), name="x"), pool(2, nic(8, ClaimKind.DRA), name="y")
    split = gang([request()], [request(8, NIC, name="nic")])
    assert outcome(cluster("a", *pools), split) == NoDevice(
        "main", "nic", 0, Closest('driver == "nic.example.com"', f"{GPU}, gpu", GPU), pool="x"
    )


@pytest.mark.proves("P68")
def test_the_device_closest_to_a_request_is_the_closest_of_all_pools_that_have_none() -> None:
    small, large = pool(1, gpu(8, 24, model="l4"), name="l4"), pool(1, gpu(8, 80, model="a100"), name="a100")
    nearest = NoDevice("main", "gpu", 0, Closest("memory >= 100Gi", f"{GPU}, gpu", "80Gi"), pool="a100")
    for pools in ((small, large), (large, small)):
        assert outcome(cluster("a", *pools), standalone(request(1, memory("100Gi")))) == nearest
    both = request(1, f'device.attributes["{GPU}"].model == "l4" && {memory("100Gi")}')
    further = NoDevice("main", "gpu", 0, Closest("memory >= 100Gi", f"{GPU}, gpu", "24Gi"), pool="l4")
    assert outcome(cluster("a", large, small), standalone(both)) == further


def test_a_pool_on_which_more_requests_find_a_device_is_nearer() -> None:
    gpus, nics = pool(1, gpu(8, 24), name="gpus"), pool(1, gpu(8, 20), nic(8), name="nics")
    asked = standalone(request(1, memory("80Gi")), request(1, NIC, name="nic"))
    assert outcome(cluster("a", gpus, nics), asked) == NoDevice(
        "main", "gpu", 0, Closest("memory >= 80Gi", f"{GPU}, gpu", "20Gi"), pool="nics"
    )


def test_of_pools_with_too_few_devices_the_one_that_lacks_fewest_is_named() -> None:
    there = cluster("a", pool(1, gpu(2), name="x"), pool(1, gpu(4), name="y"))
    assert outcome(there, *engines(8)) == TooFewDevices("e0", "gpu", 4, 8, pool="y")


REFUSED: list[tuple[str, tuple[Pool, ...], Refusal]] = [
    (
        "a pool that fails later is nearer",
        (pool(1, gpu(4)), pool(1, nic())),
        TooFewDevices("e0", "gpu", 4, 8, pool="x"),
    ),
    ("too little room is nearer than no match", (pool(0), pool(1, gpu(4), name="y")), NoRoom("e0", 1, 0, pool="x")),
    ("a pool without nodes has no room", (pool(0),), NoRoom("e0", 1, 0, pool="x")),
    (
        "nothing real to claim",
        (pool(1, nic()),),
        NoDevice("e0", "gpu", 0, Closest(f'driver == "{GPU}"', "nic.example.com, nic", "nic.example.com"), pool="x"),
    ),
]


@pytest.mark.parametrize(("rule", "pools", "refusal"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_cluster_is_refused_for_its_nearest_pool(rule: str, pools: tuple[Pool, ...], refusal: Refusal) -> None:
    assert outcome(cluster("a", *pools), *engines(8)) == refusal


def test_of_pools_without_room_the_one_with_the_smallest_shortage_is_named() -> None:
    there = cluster("a", pool(1, name="x"), pool(3, name="y"))
    assert outcome(there, standalone(copies=4)) == NoRoom("main", 4, 3, pool="y")


@pytest.mark.proves("R15")
def test_an_engine_that_claims_nothing_real_is_refused_as_such() -> None:
    assert outcome(cluster("a", pool(1, nic())), standalone(request(1, NIC))) == NotClaimable("main", pool="x")


def test_where_each_engine_alone_fits_the_one_that_finds_no_room_beside_the_others_is_named() -> None:
    assert outcome(cluster("a", pool(2)), *engines(8, 8, 8)) == NoRoom("e2", 1, 0, pool="x")


def test_different_pools_and_engines_do_not_make_the_search_long() -> None:
    pools = [pool(1, gpu(count), name=f"p{count}") for count in range(32, 39)]
    assert outcome(cluster("a", *pools), *engines(*range(20, 28))) == NoRoom("e7", 1, 0, pool="p32")
    assert outcome(cluster("a", *pools), *engines(*range(38, 31, -1))) == [f"p{count}" for count in range(38, 31, -1)]


def test_alike_pools_and_engines_do_not_make_the_search_long() -> None:
    pools = [pool(1, gpu(16), name=f"p{at}") for at in range(7)]
    assert outcome(cluster("a", *pools), *engines(*range(9, 17))) == NoRoom("e7", 1, 0, pool="p0")
    assert outcome(cluster("a", *pools), *engines(*[16] * 8)) == NoRoom("e7", 1, 0, pool="p0")


@pytest.mark.parametrize(
    ("pools", "counts", "times"),
    [
        ((pool(4),), (8,), 4),
        ((pool(4),), (1,), 32),
        ((pool(2, name="x"), pool(3, name="y")), (8,), 5),
        ((pool(4),), (8, 8), 2),
        ((pool(1, name="x"), pool(2, name="y")), (8, 8), 1),
        ((pool(2, gpu(8), name="x"), pool(2, gpu(4), name="y")), (8, 4), 1),
        ((pool(1, gpu(4)),), (8,), 0),
    ],
)
def test_how_many_more_are_counted_one_after_the_other(
    pools: tuple[Pool, ...], counts: tuple[int, ...], times: int
) -> None:
    assert more(cluster("a", *pools), *engines(*counts)) == times
