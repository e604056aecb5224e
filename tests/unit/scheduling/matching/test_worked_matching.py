"""The worked cases of docs/scheduling.md that are about matching members to pools."""

from dataclasses import dataclass

import pytest

from modelplane.model.deployment import Engine
from modelplane.model.fleet import ClaimKind, Pool
from modelplane.model.replica import StampedEngine
from unit.scheduling.scene import (
    GPU,
    NIC,
    Scene,
    cluster,
    deployment,
    gang,
    gpu,
    memory,
    nic,
    pool,
    request,
    standalone,
)


@dataclass(frozen=True)
class Match:
    """An engine and the pools of a cluster: the pool it gets, or the reason why it gets none."""

    rule: str
    engine: Engine
    pools: tuple[Pool, ...]
    then: str


def two(count: int) -> Engine:
    return standalone(request(count, name="one"), request(count, name="two"))


def with_nic(nics: int = 1) -> Engine:
    return standalone(request(8), request(nics, NIC, name="nic"))


SMALL, BIG = pool(2, gpu(8, 141), name="small"), pool(2, gpu(8, 200), name="big")

CASES = [
    Match("9: too little memory", standalone(request(1, memory("200Gi"))), (pool(1, gpu(8, 141)),), "NoDevice"),
    Match("9: too few devices on a node", standalone(), (pool(1, gpu(4)),), "TooFewDevices"),
    Match("9: the pool with enough on a node", standalone(), (pool(1, gpu(4)), pool(1, gpu(8), name="y")), "y"),
    Match("10: two requests and one device", two(1), (pool(1, gpu(1)),), "TooFewDevices"),
    Match("10: 4 and 4 of 8", two(4), (pool(1, gpu(8)),), "x"),
    Match("10: 5 and 5 of 8", two(5), (pool(1, gpu(8)),), "TooFewDevices"),
    Match("11: a synthetic device is matched", with_nic(), (pool(1, gpu(8), nic()),), "x"),
    Match("11: a synthetic device is counted", with_nic(2), (pool(1, gpu(8), nic()),), "TooFewDevices"),
    Match("11: a missing one is a miss", with_nic(), (pool(1, gpu(8)),), "NoDevice"),
    Match("11: nothing real is claimed", standalone(request(1, NIC)), (pool(1, nic()),), "NotClaimable"),
    Match(
        "12: a gang takes the pool that fits all members",
        gang([request(8, memory("141Gi"))], [request(8, memory("200Gi"))]),
        (SMALL, BIG),
        "big",
    ),
    Match(
        "12: no pool fits all members",
        gang([request(4, memory("200Gi"))], [request(4, NIC)]),
        (BIG, pool(2, gpu(8, 141), nic(4, ClaimKind.DRA), name="small")),
        "NoDevice",
    ),
    Match("14: a claimless leader costs no node", gang([], [request()]), (pool(1, gpu()),), "x"),
    Match("14: claiming pods stand on distinct nodes", gang([request()], [request()]), (pool(1, gpu()),), "NoRoom"),
]


@pytest.mark.proves("R104", "R107", "R109", "P46")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_an_engine_gets_the_pool_or_the_refusal_of_the_worked_case(case: Match) -> None:
    decided = Scene([cluster("a", *case.pools)]).decide(deployment(case.engine))
    got = [engine.pool for placement in decided.placements for engine in placement.engines]
    assert got + [refusal.reason for refusal in decided.refusals.values()] == [case.then]


def claimed(engine: Engine, *pools: Pool) -> StampedEngine:
    (placement,) = Scene([cluster("a", *pools)]).decide(deployment(engine)).placements
    return placement.engines[0]


@pytest.mark.proves("R105")
def test_10_both_requests_are_resolved() -> None:
    (member,) = claimed(two(4), pool(1, gpu(8))).members
    assert [(claim.name, claim.device_class, claim.count) for claim in member.claims] == [
        ("one", GPU, 4),
        ("two", GPU, 4),
    ]


@pytest.mark.proves("R106")
def test_11_only_the_real_device_is_resolved() -> None:
    (member,) = claimed(with_nic(), pool(1, gpu(8), nic())).members
    assert [claim.name for claim in member.claims] == ["gpu"]


@pytest.mark.proves("R108")
@pytest.mark.parametrize("first", ["p", "q"])
def test_13_the_order_of_engines_does_not_make_a_replica_infeasible(first: str) -> None:
    p, q = (standalone(request(8, memory(least)), name=name) for name, least in (("p", "141Gi"), ("q", "200Gi")))
    pools = pool(1, gpu(8, 200), name="x"), pool(1, gpu(8, 141), name="y")
    (placement,) = Scene([cluster("a", *pools)]).decide(deployment(*((p, q) if first == "p" else (q, p)))).placements
    assert {engine.name: engine.pool for engine in placement.engines} == {"p": "y", "q": "x"}
