"""An evicted replica ends without a replacement only once every candidate was asked for room and has none."""

from dataclasses import replace

import pytest

from modelplane.model.fleet import Effect, Taint
from modelplane.model.placement import EndCause, FleetView, Guess, Schedule
from modelplane.model.refusal import PRECEDENCE, Answer, NoPools
from modelplane.scheduling import explain, schedule, search_budget
from unit.scheduling.scene import Scene, cluster, deployment, nodes, places, pool, replica

OUT, AWAY = Taint("out", Effect.NO_EXECUTE), Taint("away", Effect.NO_SCHEDULE)
OURS = deployment()

#: What each refusal says of the cluster, by name.
ANSWERS = {
    "Deleting": Answer.NO,
    "NotReady": Answer.NONE,
    "NoGatewayAddress": Answer.NONE,
    "SelectorMismatch": Answer.OUTSIDE,
    "OutsideCache": Answer.OUTSIDE,
    "NoCacheStorage": Answer.NO,
    "NotAllowed": Answer.NO,
    "MetadataDenied": Answer.NO,
    "Tainted": Answer.NO,
    "NoPools": Answer.NO,
    "CapabilityShort": Answer.NO,
    "NotMultiNode": Answer.NO,
    "NoDevice": Answer.NO,
    "TooFewDevices": Answer.NO,
    "SelectorError": Answer.NO,
    "NodeUndeclared": Answer.NO,
    "NodeTooSmall": Answer.NO,
    "NotClaimable": Answer.NO,
    "NoRoom": Answer.NO,
    "SearchBound": Answer.NONE,
    "NotChecked": Answer.NONE,
}


@pytest.mark.proves("R33")
def test_each_refusal_says_whether_the_cluster_was_asked() -> None:
    # What a refusal says depends on its kind alone, so its fields are not given.
    assert {kind.__name__: kind.answer.fget(object.__new__(kind)) for kind in PRECEDENCE if kind is not NoPools} == {  # type: ignore[attr-defined]
        name: answer for name, answer in ANSWERS.items() if name != "NoPools"
    }
    assert (NoPools().answer, NoPools(published=False).answer) == (ANSWERS["NoPools"], Answer.NONE)


def draining(*others: str, **broken: object) -> Scene:
    """Return a scene in which `a` drives its replica away, `b` is broken, and these others are full."""
    scene = Scene(nodes(a=1, b=1, **dict.fromkeys(others, 0)), [replica(OURS, "a/0")])
    scene.change("a", taints=(OUT,))
    scene.change("b", **broken)
    return scene


BROKEN: dict[str, tuple[dict[str, object], str]] = {
    "not Ready": ({"ready": False}, "not Ready"),
    "without address": ({"address": None}, "without gateway address"),
    "pools not published": ({"pools": None}, "without GPU pools"),
}
WAYS_OUT: dict[str, dict[str, object]] = {"a taint": {"taints": (AWAY,)}, "its deletion": {"deleting": True}}


@pytest.mark.proves("R33")
@pytest.mark.parametrize("others", [(), ("c",)], ids=["alone", "beside a full one"])
@pytest.mark.parametrize("way_out", WAYS_OUT)
@pytest.mark.parametrize("broken", BROKEN)
def test_it_stays_for_a_cluster_that_cannot_be_asked_and_goes_once_that_one_is_out(
    broken: str, way_out: str, others: tuple[str, ...]
) -> None:
    fields, words = BROKEN[broken]
    scene = draining(*others, **fields)
    decided = scene.run(OURS)
    assert (places(decided), decided.ending) == (["-a/0"], ())
    assert (
        f"; evicted replicas stay until these clusters can be asked for room: b ({words}) (taint a cluster NoSchedule, "
        "or delete it, to go on without it)"
    ) in explain(decided, OURS).message
    scene.change("b", **WAYS_OUT[way_out])
    gone = scene.run(OURS)
    assert (places(gone), [end.cause for end in gone.ending]) == ([], [EndCause.EVICTED])
    assert "can be asked" not in explain(gone, OURS).message


def test_it_goes_once_the_cluster_that_cannot_be_asked_is_no_more() -> None:
    scene = draining(ready=False)
    del scene.clusters["b"]
    assert [end.cause for end in scene.decide(OURS).ending] == [EndCause.EVICTED]


def test_it_moves_as_soon_as_the_cluster_answers() -> None:
    scene = draining(ready=False)
    assert places(scene.run(OURS)) == ["-a/0"]
    scene.change("b", ready=True)
    assert places(scene.run(OURS)) == ["-a/0", "b/0"]
    scene.serve()
    assert places(scene.run(OURS)) == ["b/0"]


def test_each_cluster_that_it_waits_for_is_named() -> None:
    scene = draining("c", "d", "e", ready=False)
    scene.change("d", address=None)
    assert "room: b (not Ready), d (without gateway address) (taint" in explain(scene.decide(OURS), OURS).message


def test_it_stays_as_it_was_when_the_taint_is_taken_back_while_it_waits() -> None:
    scene = draining(ready=False)
    scene.run(OURS)
    scene.change("a", taints=())
    decided = scene.run(OURS)
    assert (places(decided), decided.ending, decided.awaited) == (["a/0"], (), {})


def test_it_stays_when_the_taint_is_taken_back_while_its_replacement_starts() -> None:
    scene = draining()
    assert places(scene.run(OURS)) == ["-a/0", "b/0"]
    scene.change("a", taints=())
    decided = scene.run(OURS)
    assert (places(decided), [end.cause for end in decided.ending]) == (["a/0"], [EndCause.SCALE_DOWN])


def test_a_cluster_whose_search_is_bounded_was_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_budget, "CLUSTER_STATES", 0)
    monkeypatch.setattr(search_budget, "PASS_STATES", 1)
    scene = Scene(nodes(a=1, b=0), [replica(OURS, "a/0")])
    scene.change("a", taints=(OUT,))
    decided = scene.decide(OURS)
    assert (places(decided), list(decided.awaited)) == (["-a/0"], ["b"])


def test_the_clusters_of_a_shortlist_are_not_all_that_can_be_asked() -> None:
    tainted = cluster("a", pool(1), taints=[("out", Effect.NO_EXECUTE)])
    own = replica(OURS, "a/0")
    full, others = nodes(b=1)[0], (replica(deployment(name="other"), "b/0"),)
    view = FleetView(
        (own,), {"a": tainted}, (full,), {"a": (own,), "b": others}, (own,), shortlisted=Guess(), final=True
    )
    decided = schedule(OURS, view)
    assert isinstance(decided, Schedule)
    assert (places(decided), decided.ending) == (["-a/0"], ())
    asked = schedule(OURS, replace(view, shortlisted=None))
    assert isinstance(asked, Schedule)
    assert [end.cause for end in asked.ending] == [EndCause.EVICTED]


def test_a_replica_that_must_be_replaced_stays_whoever_was_asked() -> None:
    scene = Scene(nodes(b=0), [replica(OURS, "gone/0")])
    decided = scene.decide(OURS)
    assert (places(decided), decided.ending, decided.awaited) == (["-gone/0"], (), {})
