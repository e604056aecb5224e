"""What is remembered between passes is weighed at no less than it keeps alive, however large a spec makes it."""

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest

from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Role
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Effect, PodToleration, Pool, Taint
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.scheduling.pools import hardware
from modelplane.scheduling.pools.groups import Groups, weigh_groups
from modelplane.scheduling.pools.hardware import layout, weigh_cluster, weigh_layout
from modelplane.scheduling.room import charge, room, search
from modelplane.scheduling.room.blocking import PoolGroups, Shortage
from modelplane.scheduling.room.charge import engine_group, weigh_engine
from modelplane.scheduling.room.hosting import Hosting
from modelplane.scheduling.room.room import shortage
from unit.scheduling.scene import Scene, cluster, deployment, gpu, pool, request, standalone

GPU = Device(name="gpu", driver="gpu.nvidia.com", count=8, device_class="gpu.nvidia.com", claim=ClaimKind.DRA)


def _engine(members: int, claims: int, selectors: int, characters: int) -> StampedEngine:
    texts = iter(f"{number:0{characters}}" for number in range(members * claims * selectors))
    return StampedEngine(
        "main" * 10,
        tuple(
            StampedMember(
                Role.STANDALONE,
                f"pool-{at}" * 5,
                pods=1000 + at,
                claims=tuple(
                    Claim(f"request-{n}", "gpu.nvidia.com", 1, tuple(next(texts) for _ in range(selectors)))
                    for n in range(claims)
                ),
            )
            for at in range(members)
        ),
        copies=1000,
    )


@pytest.mark.parametrize(
    "engine",
    [_engine(1, 1, 1, 80), _engine(2, 16, 8, 100), _engine(1, 1, 1, 10_240), _engine(2, 1, 0, 1), _engine(1, 16, 8, 9)],
    ids=["usual", "many selectors", "a long one", "none", "short ones"],
)
def test_an_engine_is_weighed_with_every_text_in_it(engine: StampedEngine) -> None:
    assert weigh(engine) <= weigh_engine(engine) <= 4 * weigh(engine) + 2000


def _groups(many: int, entries: int, demands: int) -> Groups:
    return tuple(
        (
            tuple((tuple((1000 + at, 2000 + at + n) for _ in range(entries)), 300 + n) for n in range(demands)),
            1000 + at,
        )
        for at in range(many)
    )


@pytest.mark.parametrize(("many", "entries", "demands"), [(0, 1, 1), (1, 1, 1), (5, 4, 1), (600, 2, 2), (20, 16, 2)])
def test_the_groups_on_a_pool_are_weighed_by_number_and_by_what_is_in_them(
    many: int, entries: int, demands: int
) -> None:
    groups = _groups(many, entries, demands)
    assert weigh(groups) <= weigh_groups(entries, groups) <= 3 * weigh(groups) + 2000


@pytest.mark.parametrize("size", [1, 64])
def test_a_cluster_is_weighed_without_its_devices(size: int) -> None:
    cluster = Cluster(
        name="c" * 63,
        labels={f"{at}/{'k' * 250}": "v" * 63 for at in range(size)},
        ready=True,
        address="10.0.0.1",
        taints=tuple(Taint(f"{at}/{'k' * 250}", Effect.NO_SCHEDULE, "v" * 63) for at in range(size)),
        pools=tuple(Pool(f"pool-{at}" * 5, 1000 + at, ()) for at in range(16)),
    )
    assert weigh(cluster) <= weigh_cluster(cluster) <= 4 * weigh(cluster)


def test_engines_that_never_come_again_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 256 * 1024
    cache: Lru[Any] = Lru(limit)
    monkeypatch.setattr(charge, "_GROUPS", cache)
    where = layout(Cluster("a", pools=(Pool("pool", 8, (GPU,)),)))
    for number in range(400):
        engine = replace(_engine(1, 4, 2, 2000), name=f"{number}")
        assert engine_group(engine, engine.pool, where.pools[0].hardware)
    assert weigh(list(cache._kept)) <= limit + 100 * 1024


def test_a_cluster_is_laid_out_once_in_however_large_a_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[tuple[Pool, ...]] = []

    def layout_of(pools: tuple[Pool, ...]) -> hardware.Layout:
        laid_out.append(pools)
        return found(pools)

    found = hardware.layout_of
    monkeypatch.setattr(hardware, "layout_of", layout_of)
    labels = {"text": "x" * 5000}
    fleet = [Cluster(f"c{number}", labels=labels, pools=(Pool("pool", 8, (GPU,)),)) for number in range(4000)]
    assert len({id(layout(each)) for _ in range(2) for each in fleet}) == 1
    assert len(laid_out) == len(fleet)


def test_a_cluster_with_other_pools_is_laid_out_anew() -> None:
    before = Cluster("a", pools=(Pool("pool", 8, (GPU,)),))
    assert layout(before).pools[0].nodes == 8
    after = replace(before, pools=(Pool("pool", 9, (GPU,)),))
    assert layout(after).pools[0].nodes == 9
    assert replace(after, pools=before.pools) == before


@pytest.mark.parametrize("pools", [1, 16])
@pytest.mark.parametrize("tolerations", [0, 8])
def test_a_layout_is_weighed_without_its_devices(pools: int, tolerations: int) -> None:
    allowed = (
        tuple(PodToleration(f"{at}/{n}" * 20, value="v" * 63) for n in range(tolerations)) for at in range(pools)
    )
    there = tuple(Pool(f"p{at}" * 8, 1000 + at, tolerations=each) for at, each in enumerate(allowed))
    where = layout(Cluster("a", pools=there))
    assert weigh(where) <= weigh_layout(where) <= 6 * weigh(where)


def test_a_verdict_on_room_is_found_again_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    class Pool(PoolGroups):
        def __init__(self, nodes: int, counts: tuple[int, ...], groups: Groups) -> None:
            built.append(nodes)
            super().__init__(nodes, counts, groups)

    monkeypatch.setattr(room, "PoolGroups", Pool)
    for _ in range(2):
        # Two pods of 1 and one of all devices each on two nodes: the first two can block both. No other test asks that.
        groups = (((((1, 1),), 1),), 2), (((((3989, 3989),), 1),), 1)
        assert shortage(2, (3989,), groups) == Shortage(needs=1, free=0)
    assert built == [2]


def test_hardware_is_weighed_once_however_many_ways_it_is_narrowed_in() -> None:
    of = hardware.hardware((replace(GPU, attributes=(Attribute("text", "string", "x" * 1024 * 1024),)),))
    read: list[int] = []

    def narrow(way: int) -> None:
        hardware.seen_by(of, lambda device: read.append(way) or replace(device, attributes=()), way)  # type: ignore[func-returns-value]

    for way in (*range(20), *range(20)):
        narrow(way)
    assert read == [*range(20)]


def test_what_a_search_keeps_is_freed_when_it_ends_and_not_only_when_all_objects_are_collected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[weakref.ref[Hosting]] = []

    class Watched(Hosting):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            kept.append(weakref.ref(self))

    monkeypatch.setattr(search, "Hosting", Watched)
    gc.disable()
    try:
        Scene([cluster("a", pool(7, gpu(8)))]).decide(deployment(standalone(request(5)), replicas=3))
        alive = [each() is not None for each in kept]
    finally:
        gc.enable()
    assert alive
    assert not any(alive)
