"""What is remembered between passes is weighed at no less than it keeps alive, however large a spec makes it."""

from dataclasses import replace

import pytest

from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Role
from modelplane.model.fleet import ClaimKind, Cluster, Device, Effect, Pool, Taint
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.scheduling import charge, hardware, room
from modelplane.scheduling.blocking import PoolGroups, Shortage
from modelplane.scheduling.charge import engine_group, weigh_engine
from modelplane.scheduling.groups import Groups, weigh_groups
from modelplane.scheduling.hardware import layout, weigh_cluster
from modelplane.scheduling.room import shortage

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


def test_engines_clusters_and_verdicts_that_never_come_again_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 256 * 1024
    caches = {(charge, "_GROUPS"): Lru(limit), (hardware, "_LAYOUTS"): Lru(limit)}  # type: ignore[var-annotated]
    for (module, name), cache in caches.items():
        monkeypatch.setattr(module, name, cache)
    where = layout(Cluster("a", pools=(Pool("pool", 8, (GPU,)),)))
    for number in range(400):
        engine = replace(_engine(1, 4, 2, 2000), name=f"{number}")
        assert engine_group(engine, engine.pool, where.pools[0].hardware)
        assert layout(Cluster(f"c{number}", labels={"text": "x" * 5000}, pools=(Pool("pool", 8, (GPU,)),))) is where
    for cache in caches.values():
        assert weigh(list(cache._kept)) <= limit + 100 * 1024


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
