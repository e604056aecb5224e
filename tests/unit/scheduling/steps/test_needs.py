"""What a pass asks for: only what its decision turns on, and all of that at once."""

from dataclasses import dataclass, replace

import pytest

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Effect, Taint
from modelplane.model.observation import Gap
from modelplane.model.placement import FleetView, Footprint, Guess, Needs
from modelplane.model.replica import Replica
from modelplane.scheduling import schedule
from unit.scheduling.scene import Scene, cluster, deployment, nodes, pool, replica, request, stamped, standalone

OURS = deployment(replicas=2)
SERVING = (replica(OURS, "a/0"), replica(OURS, "b/0"))
STARTING = (SERVING[0], replica(OURS, "b/0", serves=False))
A, B = frozenset("a"), frozenset("b")
FILL = Needs(candidates=True, siblings=True)


def read(*clusters: str) -> Needs:
    """Return the need for the replicas of clusters that were chosen, and of those that rank next."""
    return Needs(residents=frozenset(clusters), shortlist=Guess())


@dataclass(frozen=True)
class Situation:
    """What is there, and what each round asks for until the pass decides."""

    rule: str
    ours: Deployment
    own: tuple[Replica, ...]
    asked: list[Needs]
    others: tuple[Replica, ...] = ()


RACED = replica(deployment(name="other"), "b/0", age=50, serves=False)

SITUATIONS = [
    Situation("settled: its clusters by name", OURS, SERVING, [Needs(A | B)]),
    Situation("parked: nothing", replace(OURS, replicas=0), SERVING, []),
    Situation("nothing placed yet: candidates, then those chosen", OURS, (), [FILL, read("a", "b", "c")]),
    Situation(
        "scaled up: all at once, then what has room",
        replace(OURS, replicas=3),
        SERVING,
        [replace(FILL, clusters=A | B), read("c")],
    ),
    Situation(
        "scaled up while one starts: its cluster's replicas at once",
        replace(OURS, replicas=3),
        STARTING,
        [Needs(A | B, candidates=True, siblings=True), Needs(residents=B), read("c")],
    ),
    Situation("scaled down: its clusters", replace(OURS, replicas=1), SERVING, [Needs(A | B)]),
    Situation("one is starting: the replicas of its cluster", OURS, STARTING, [Needs(A | B), Needs(residents=B)]),
    Situation(
        "one yields: what it takes to place it",
        OURS,
        STARTING,
        [Needs(A | B), Needs(residents=B), FILL, read("c")],
        (RACED,),
    ),
    Situation(
        "one has to leave: what it takes to place another",
        OURS,
        (SERVING[0], replica(OURS, "gone/0")),
        [Needs(A | {"gone"}), FILL, read("b", "c")],
    ),
    Situation(
        "a cache: asked for with the rest",
        replace(OURS, cache="weights"),
        (),
        [replace(FILL, cache=True), read("a", "b", "c")],
    ),
    Situation("a settled one: its cache too", replace(OURS, cache="weights"), SERVING, [Needs(A | B, cache=True)]),
    Situation(
        "a selector that does not compile: its clusters",
        replace(deployment(standalone(request(8, "device.("))), replicas=3),
        STARTING,
        [Needs(A | B)],
    ),
]


@pytest.mark.proves("R1")
@pytest.mark.parametrize("case", SITUATIONS, ids=lambda case: case.rule)
def test_a_pass_asks_only_for_what_its_decision_turns_on(case: Situation) -> None:
    scene = Scene(nodes(a=1, b=1, c=4), [*case.own, *case.others])
    scene.cache = Footprint("weights")
    scene.decide(case.ours)
    assert scene.asked == case.asked


@pytest.mark.parametrize("missing", [Gap.ABSENT], ids=["no such cache"])
def test_a_cache_without_a_footprint_asks_for_no_candidates(missing: Gap) -> None:
    view = FleetView(cache=missing)
    decided = schedule(replace(OURS, cache="weights"), view)
    assert not isinstance(decided, Needs)
    assert (decided.unplaced, decided.candidates) == (2, None)


def test_the_cluster_of_one_that_only_a_list_shows_is_asked_for_unless_it_is_a_candidate() -> None:
    there = cluster("a", pool(4))
    for place, asked in (("a/5", None), ("far/5", Needs(frozenset({"far"})))):
        view = FleetView(candidates=(there,), siblings=(replica(OURS, place),), final=True)
        outcome = schedule(OURS, view)
        assert (outcome if isinstance(outcome, Needs) else None) == asked


def test_asking_never_repeats_what_was_asked() -> None:
    ours = replace(OURS, cache="weights")
    scene = Scene(nodes(a=1, b=1, c=4), [*STARTING, RACED, replica(deployment(name="third"), "c/0", stamped())])
    scene.cache = Footprint("weights")
    scene.change("a", taints=(Taint("k", Effect.NO_EXECUTE),))
    scene.decide(ours)
    merged = Needs()
    for needs in scene.asked:
        assert not (needs.clusters & merged.clusters or needs.residents & merged.residents)
        assert not (needs.siblings and merged.siblings) and not (needs.cache and merged.cache)
        merged = Needs(
            merged.clusters | needs.clusters,
            merged.residents | needs.residents,
            merged.candidates or needs.candidates,
            merged.siblings or needs.siblings,
            merged.cache or needs.cache,
        )
