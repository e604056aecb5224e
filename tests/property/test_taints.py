"""Taints and tolerations of clusters."""

from dataclasses import replace

import pytest
from hypothesis import given

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role, Toleration
from modelplane.model.fleet import Cluster, Effect, Pool, Taint
from modelplane.model.refusal import Tainted
from property.fleet import Fleet, Snapshot, decide
from property.oracles.ending import evicted
from property.oracles.selectors import ANY_GPU
from property.oracles.taints import may_take, untolerated
from property.strategies import examples, taints, tolerations
from property.test_oracles import gpu

MEMBER = Member(Role.STANDALONE, 1, (DeviceRequest("gpu", 1, (ANY_GPU,)),))
WANTED = Deployment("team", "model", "owner", (Profile((Engine("e", (MEMBER,)),)),))


def cluster(name: str, *tainted: Taint) -> Cluster:
    return Cluster(name, ready=True, address="192.0.2.1", taints=tainted, pools=(Pool("x", 1, (gpu(),)),))


@given(taints(), tolerations())
@examples(300)
def test_a_cluster_takes_replicas_iff_every_taint_is_tolerated(
    tainted: tuple[Taint, ...], tolerated: tuple[Toleration, ...]
) -> None:
    deployment = replace(WANTED, tolerations=tolerated)
    there = cluster("a", *tainted)
    decided = decide(deployment, Snapshot({"a": there})).schedule
    assert bool(decided.placements) is may_take(deployment, there, {})
    if not decided.placements:
        refusal = decided.refusals["a"]
        assert isinstance(refusal, Tainted)
        left = untolerated(deployment, there, *Effect)
        assert (refusal.key, refusal.effect) in {(taint.key, taint.effect) for taint in left}


@given(taints(), tolerations())
@examples(150)
def test_only_an_untolerated_no_execute_taint_moves_a_running_replica(
    tainted: tuple[Taint, ...], tolerated: tuple[Toleration, ...]
) -> None:
    deployment = replace(WANTED, tolerations=tolerated)
    fleet = Fleet({"a": cluster("a")})
    fleet.carry_out(deployment, decide(deployment, fleet.snapshot()).schedule)
    fleet.serve()
    fleet.clusters = {"a": cluster("a", *tainted), "b": cluster("b")}
    moves = evicted(deployment, fleet.clusters["a"])
    on = []
    for _ in range(3):
        decided = decide(deployment, fleet.snapshot()).schedule
        fleet.carry_out(deployment, decided)
        on.append(sorted(r.cluster for r in fleet.replicas.values()))
        fleet.serve()
    assert on == ([["a", "b"], ["b"], ["b"]] if moves else [["a"], ["a"], ["a"]])


@pytest.mark.proves("R32")
@given(taints())
@examples(50)
def test_an_evicted_replica_with_nowhere_to_go_goes_at_once_but_not_while_candidates_cannot_be_known(
    tainted: tuple[Taint, ...],
) -> None:
    fleet = Fleet({"a": cluster("a")})
    fleet.carry_out(WANTED, decide(WANTED, fleet.snapshot()).schedule)
    fleet.serve()
    fleet.clusters = {"a": cluster("a", *tainted)}
    stays = not evicted(WANTED, fleet.clusters["a"])
    assert bool(decide(WANTED, fleet.snapshot()).schedule.placements) is stays
    nowhere = replace(WANTED, cluster_selector={"region": "mars"})
    assert decide(nowhere, fleet.snapshot()).schedule.placements
