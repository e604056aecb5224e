"""What ends a replica's stay, and what does not."""

from dataclasses import dataclass, replace

import pytest

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster, Effect, Taint
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause, FleetView, Footprint, Schedule, Stamp
from modelplane.scheduling import explain, schedule
from unit.scheduling.scene import (
    Scene,
    at_once,
    cluster,
    deployment,
    gpu,
    memory,
    model,
    nodes,
    places,
    pool,
    replica,
    request,
    stamped,
    standalone,
    tolerating,
)

OURS = deployment()
THERE = cluster("a", pool(1))
EVICTING = (Taint("out", Effect.NO_EXECUTE),)


@dataclass(frozen=True)
class State:
    """A cluster as it is found: whether the edit is applied to the replica there, or it is held or leaves."""

    rule: str
    cluster: Cluster | Gap | Malformed
    then: str
    ours: Deployment = OURS


STATES = [
    State("a healthy cluster", THERE, "applied"),
    State("not Ready", replace(THERE, ready=False), "applied"),
    State("no address", replace(THERE, address=None), "applied"),
    State("labels that no longer match", THERE, "applied", replace(OURS, cluster_selector={"region": "eu"})),
    State("a NoSchedule taint", replace(THERE, taints=(Taint("k", Effect.NO_SCHEDULE),)), "applied"),
    State("a NoExecute taint", replace(THERE, taints=EVICTING), "leaves"),
    State("a NoExecute taint that is tolerated", replace(THERE, taints=EVICTING), "applied", tolerating(OURS, "out")),
    State("an absent cluster", Gap.ABSENT, "leaves"),
    State("a cluster that is being deleted", replace(THERE, deleting=True), "leaves"),
    State("a cluster that cannot be read", Malformed("InferenceCluster", "a", "status", "is no object"), "held"),
    State("a cluster that has not published its pools", replace(THERE, pools=None), "held"),
    State("a pool that is gone", cluster("a", pool(1, name="renamed")), "leaves"),
    State("a pool without nodes", cluster("a", pool(0)), "applied"),
    State("devices that drift and still match", cluster("a", pool(1, gpu(9, 90))), "applied"),
    State(
        "devices that no longer match",
        cluster("a", pool(1, gpu(8, 40))),
        "leaves",
        deployment(standalone(request(8, memory("80Gi")))),
    ),
    State("too few devices", cluster("a", pool(1, gpu(4))), "leaves"),
    State("another DeviceClass", cluster("a", pool(1, gpu(device_class="other"))), "applied", at_once(OURS)),
    State(
        "an error beside the match",
        cluster("a", pool(1, gpu(), gpu(name="bare", model=""))),
        "leaves",
        deployment(standalone(request(8, model("h100")))),
    ),
]


def found(case: State, *, serves: bool) -> Schedule:
    """Return the schedule with the replica on the cluster, and nowhere else to go."""
    asked = case.ours.profiles[0].engines[0].members[0].requests[0].selectors
    running = replica(case.ours, "a/0", stamped(selectors=asked), serves=serves)
    full = cluster("full", pool(0), region="eu")
    view = FleetView(
        (running,), {"a": case.cluster}, (full,), siblings=(running,), residents={"full": (), "a": (running,)}
    )
    decided = schedule(case.ours, view)
    assert isinstance(decided, Schedule)
    return decided


@pytest.mark.proves("R34")
@pytest.mark.parametrize("case", STATES, ids=lambda case: case.rule)
def test_a_serving_replica_leaves_only_for_the_listed_causes(case: State) -> None:
    decided = found(case, serves=True)
    evicted = isinstance(case.cluster, Cluster) and case.cluster.taints == EVICTING and case.then == "leaves"
    if evicted:
        assert [end.cause for end in decided.ending] == [EndCause.EVICTED]
        return
    (placement,) = decided.placements
    assert decided.ending == ()
    assert placement.leaving is (case.then == "leaves")
    assert placement.stamp is (Stamp.APPLY if case.then == "applied" else Stamp.HOLD)
    assert bool(placement.why) is (case.then != "applied")


@pytest.mark.proves("R37")
@pytest.mark.parametrize("case", [case for case in STATES if case.then == "leaves"], ids=lambda case: case.rule)
def test_a_replica_that_never_served_and_has_to_leave_ends_at_once(case: State) -> None:
    decided = found(case, serves=False)
    assert (decided.placements, decided.unplaced, len(decided.ending)) == ((), 1, 1)


def test_a_held_replica_is_named_with_the_reason() -> None:
    decided = found(STATES[10], serves=True)
    assert explain(decided, OURS).message == (
        "1 of 1 replicas scheduled; held: uid-team-model-a-0 on a (cluster a has not published its "
        "pools: see its condition ClusterReady)"
    )


def test_leaving_ones_are_kept_as_far_as_too_few_serve_and_the_oldest_go_last() -> None:
    ours = deployment(replicas=2)
    leaving = [replica(ours, f"gone/{index}", age=index) for index in range(3)]
    scene = Scene(nodes(b=1), [*leaving, replica(ours, "b/0")])
    decided = scene.decide(ours)
    assert places(decided) == ["b/0", "-gone/2"]
    assert [end.replica.index for end in decided.ending] == [1, 0]


def test_an_evicted_one_whose_replacement_is_starting_stays_and_one_without_goes() -> None:
    ours = deployment(replicas=2)
    scene = Scene(nodes(a=2, b=1), [replica(ours, "a/0", age=1), replica(ours, "a/1", age=2)])
    scene.change("a", taints=EVICTING)
    decided = scene.decide(ours)
    assert (places(decided), decided.unplaced) == (["-a/1", "b/0"], 1)
    assert [end.replica.index for end in decided.ending] == [0]


@pytest.mark.parametrize("serves", [True, False])
@pytest.mark.parametrize("unknown", ["no candidate", "cache unresolved", "outside the cache"])
def test_while_candidates_cannot_be_known_an_evicted_one_stays(unknown: str, serves: bool) -> None:
    ours = replace(OURS, cache="weights")
    scene = Scene(nodes(a=1, b=0), [replica(ours, "a/0", serves=serves)])
    scene.change("a", taints=EVICTING)
    scene.cache = Footprint("weights")
    if unknown == "no candidate":
        ours = replace(ours, cluster_selector={"region": "nowhere"})
    elif unknown == "cache unresolved":
        scene.cache = Gap.ABSENT
    else:
        scene.cache = Footprint("weights", {"region": "nowhere"})
    decided = scene.decide(ours)
    assert (places(decided), decided.ending) == (["-a/0"], ())


def test_a_replica_whose_own_spec_cannot_be_read_is_held() -> None:
    for broken in (replace(replica(OURS, "a/0"), engines=()), replace(replica(OURS, "a/0"), cluster="")):
        decided = Scene([THERE], [broken]).decide(OURS)
        assert [(p.replica, p.stamp) for p in decided.placements] == [(broken, Stamp.HOLD)]


def test_nothing_is_kept_of_a_parked_deployment_and_nothing_is_asked_for() -> None:
    parked = deployment(replicas=0)
    scene = Scene([THERE], [replica(parked, "a/0"), replica(parked, "gone/0", serves=False)])
    decided = scene.decide(parked)
    assert (decided.placements, scene.asked) == ((), [])
    assert {end.cause for end in decided.ending} == {EndCause.SCALE_DOWN}
    assert explain(decided, parked).reason == "ScaledToZero"


def test_what_is_stamped_with_other_selectors_and_matches_is_applied_in_place() -> None:
    ours = at_once(deployment(standalone(request(8, memory("80Gi")))))
    (placement,) = Scene([THERE], [replica(ours, "a/0")]).decide(ours).placements
    assert placement.stamp is Stamp.APPLY
    assert placement.engines == (stamped(selectors=(memory("80Gi"),)),)


def test_a_replica_keeps_the_classes_that_it_claims_though_other_classes_that_take_the_same_come_first() -> None:
    red, blue = (gpu(2, name=name, device_class=name) for name in ("red", "blue"))
    there = cluster("a", pool(1, red, blue))
    ours = deployment(standalone(*(request(1, name=name) for name in ("one", "two", "three", "four"))))
    (placed,) = Scene([there]).decide(ours).placements
    (member,) = placed.engines[0].members
    assert [claim.device_class for claim in member.claims] == ["red", "red", "blue", "blue"]
    classes = ("blue", "red", "blue", "red")
    claims = tuple(replace(claim, device_class=name) for claim, name in zip(member.claims, classes, strict=True))
    engine = replace(placed.engines[0], members=(replace(member, claims=claims),))
    (kept,) = Scene([there], [replica(ours, "a/0", engine)]).decide(ours).placements
    assert (kept.stamp, kept.engines) == (Stamp.APPLY, (engine,))
