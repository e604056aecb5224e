"""The worked cases of docs/scheduling.md that are about what may end a replica, and what may not."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, Profile
from modelplane.model.fleet import Effect, Taint
from modelplane.model.placement import EndCause, Stamp
from modelplane.scheduling import explain
from unit.scheduling.scene import (
    Scene,
    cluster,
    deployment,
    gpu,
    memory,
    nodes,
    places,
    pool,
    pools_of,
    replica,
    request,
    stamped,
    standalone,
)


@pytest.mark.proves("R98", "P64")
@pytest.mark.parametrize("degraded", [{"ready": False}, {"address": None}], ids=["not Ready", "no address"])
def test_3_a_degraded_cluster_takes_nothing_new_and_keeps_what_runs(degraded: dict[str, object]) -> None:
    ours = deployment()
    scene = Scene(nodes(a=2))
    scene.change("a", **degraded)
    assert scene.decide(ours).placements == ()
    running = replica(ours, "a/0")
    scene.replicas = {running.uid: running}
    (placement,) = scene.decide(ours).placements
    assert (placement.replica, placement.leaving, placement.stamp) == (running, False, Stamp.APPLY)


@pytest.mark.proves("R102")
def test_7_a_serving_replica_of_a_deleted_cluster_goes_when_its_replacement_serves() -> None:
    ours = deployment()
    scene = Scene(nodes(b=1), [replica(ours, "a/0")])
    assert places(scene.run(ours)) == ["-a/0", "b/0"]
    assert places(scene.run(ours)) == ["-a/0", "b/0"]
    scene.serve()
    last = scene.run(ours)
    assert places(last) == ["b/0"]
    assert [end.cause for end in last.ending] == [EndCause.REPLACED]


def test_7_without_another_cluster_it_stays_and_the_shortfall_is_named() -> None:
    ours = deployment()
    decided = Scene(nodes(b=0), [replica(ours, "a/0")]).decide(ours)
    assert (places(decided), decided.unplaced) == (["-a/0"], 1)
    report = explain(decided, ours)
    assert not report.scheduled
    # A cluster that is not there cannot be tainted.
    assert "(cluster a does not exist: scale down to end it before)" in report.message


def test_7_a_replica_on_a_degraded_cluster_stays_though_another_is_free() -> None:
    ours = deployment()
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0")])
    scene.change("a", ready=False)
    assert places(scene.decide(ours)) == ["a/0"]


def tainted(scene: Scene, name: str, effect: Effect) -> None:
    scene.change(name, taints=(Taint("maintenance", effect),))


def test_15_no_schedule_sends_new_ones_elsewhere_and_moves_none() -> None:
    ours = deployment(replicas=2)
    scene = Scene(nodes(a=4, b=4), [replica(ours, "a/0")])
    tainted(scene, "a", Effect.NO_SCHEDULE)
    assert places(scene.decide(ours)) == ["a/0", "b/0"]
    assert places(scene.decide(replace(ours, replicas=3))) == ["a/0", "b/0", "b/1"]


@pytest.mark.proves("R110")
def test_15_no_execute_moves_a_replica_once_its_replacement_serves() -> None:
    ours = deployment()
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0")])
    tainted(scene, "a", Effect.NO_EXECUTE)
    assert places(scene.run(ours)) == ["-a/0", "b/0"]
    scene.serve()
    last = scene.run(ours)
    assert (places(last), [end.cause for end in last.ending]) == (["b/0"], [EndCause.EVICTED])


def test_15_no_execute_with_nowhere_to_go_leaves_fewer_and_names_the_shortfall() -> None:
    ours = deployment(replicas=2)
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0"), replica(ours, "b/0")])
    tainted(scene, "a", Effect.NO_EXECUTE)
    decided = scene.decide(ours)
    assert (places(decided), decided.unplaced) == (["b/0"], 1)
    assert "1 tainted (maintenance)" in explain(decided, ours).message


def test_scale_down_ends_the_replica_that_crashes_and_not_one_that_serves() -> None:
    ours = deployment(replicas=3)
    scene = Scene(nodes(a=1, b=1, c=1), [replica(ours, "a/0"), replica(ours, "b/0"), replica(ours, "c/0")])
    scene.flap("uid-team-model-a-0")
    decided = scene.decide(replace(ours, replicas=2))
    assert (places(decided), [end.cause for end in decided.ending]) == (["b/0", "c/0"], [EndCause.SCALE_DOWN])


EDITED = {"content": "v2", "served_content": "v1"}


@pytest.mark.parametrize(
    ("edited", "answers"),
    [({}, False), ({"stale": True}, False), ({"complete": False, "copies": 1}, False), ({"stale": True}, True)],
    ids=["cut off", "cut off before its pass", "cut off with copies of both", "before its pass"],
)
def test_scale_down_ends_what_crashed_and_not_an_edited_replica_whose_earlier_pods_may_serve(
    edited: dict[str, object], answers: bool
) -> None:
    ours = replace(deployment(standalone(copies=2)), profiles=(Profile((standalone(copies=2),), "v2"),))
    crashed = replace(replica(ours, "a/0", stamped(copies=2), age=9), content="v2", served_content="v2", ready=False)
    serving = replace(replica(ours, "z/0", stamped(copies=2), age=5), **{**EDITED, **edited})  # type: ignore[arg-type]
    scene = Scene(nodes(a=4, z=4), [crashed, serving])
    scene.change("z", answers=answers, ready=answers)
    decided = scene.decide(ours)
    assert [(end.replica.cluster, end.cause) for end in decided.ending] == [("a", EndCause.SCALE_DOWN)]


def test_an_evicted_replica_whose_selector_matches_no_cluster_says_so() -> None:
    ours = replace(deployment(), cluster_selector={"tier": "gold"})
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0")])
    tainted(scene, "a", Effect.NO_EXECUTE)
    (placement,) = scene.decide(ours).placements
    assert placement.why == (
        "cluster a is tainted maintenance NoExecute, and no cluster matches spec.clusterSelector: correct the "
        "selector, or scale down to end it before"
    )


@pytest.mark.proves("R39")
@pytest.mark.parametrize("seen", [{"ready": False}, {"stale": True}], ids=["crashes", "reported for an earlier spec"])
def test_a_replica_that_is_not_seen_to_serve_lets_no_other_go_that_has_to_move(seen: dict[str, object]) -> None:
    ours = deployment()
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0", age=1), replace(replica(ours, "b/0"), **seen)])  # type: ignore[arg-type]
    tainted(scene, "a", Effect.NO_EXECUTE)
    assert places(scene.run(ours)) == ["-a/0", "b/0"]
    scene.serve()
    assert places(scene.run(ours)) == ["b/0"]


def test_a_replica_on_a_cluster_that_does_not_answer_lets_no_other_go_that_has_to_move() -> None:
    ours = deployment()
    scene = Scene(nodes(a=1, b=1), [replica(ours, "a/0", age=1), replica(ours, "b/0")])
    tainted(scene, "a", Effect.NO_EXECUTE)
    scene.change("b", answers=False)
    assert places(scene.decide(ours)) == ["-a/0", "b/0"]


@pytest.mark.proves("R39")
def test_of_those_that_have_to_move_one_that_serves_stays_until_others_do_before_one_that_does_not() -> None:
    ours = deployment()
    scene = Scene(nodes(b=1), [replica(ours, "gone/0", age=2), replica(ours, "a/0", age=1), replica(ours, "b/0")])
    scene.flap("uid-team-model-b-0")
    scene.clusters |= {each.name: each for each in nodes(a=1)}
    tainted(scene, "a", Effect.NO_EXECUTE)
    assert places(scene.decide(ours)) == ["-a/0", "b/0"]


BROKEN = "device.driver == ("


@pytest.mark.proves("R117")
def test_22_a_malformed_selector_keeps_every_replica_and_says_where_it_is_wrong() -> None:
    ours = deployment(replicas=2)
    scene = Scene(nodes(a=4), [replica(ours, "a/0"), replica(ours, "a/1", serves=False)])
    typo = deployment(standalone(request(8, BROKEN)), replicas=2)
    decided = scene.decide(typo)
    assert [(p.index, p.stamp, p.engines) for p in decided.placements] == [
        (0, Stamp.HOLD, (stamped(),)),
        (1, Stamp.HOLD, (stamped(),)),
    ]
    assert decided.ending == ()
    report = explain(decided, typo)
    assert (report.scheduled, report.reason) == (False, "InvalidNodeSelector")
    where = f"engine main, request gpu, selector `{BROKEN}`, line 1, column "
    assert report.message.startswith(f"2 of 2 replicas scheduled: {where}")


def test_22_a_malformed_selector_places_nothing_new_and_scale_down_still_works() -> None:
    ours = deployment(replicas=2)
    scene = Scene(nodes(a=4), [replica(ours, "a/0"), replica(ours, "a/1")])
    typo = deployment(standalone(request(8, BROKEN)), replicas=3)
    assert (places(scene.decide(typo)), scene.decide(typo).unplaced) == (["a/0", "a/1"], 1)
    assert places(scene.decide(replace(typo, replicas=1))) == ["a/0"]
    assert places(scene.decide(replace(typo, replicas=0))) == []


@pytest.mark.proves("R118")
def test_23_a_cluster_selector_without_candidates_keeps_every_replica() -> None:
    ours = replace(deployment(replicas=2), cluster_selector={"region": "nowhere"})
    decided = Scene(nodes(a=4), [replica(ours, "a/0")]).decide(ours)
    assert (places(decided), decided.unplaced) == (["a/0"], 1)
    report = explain(decided, ours)
    assert (report.reason, report.message) == (
        "NoClusters",
        "1 of 2 replicas scheduled: no InferenceCluster has the labels of spec.clusterSelector (region=nowhere): label "
        "one, or correct the selector",
    )


def on_l4() -> Scene:
    pools = pool(1, gpu(1, 24, model="l4"), name="l4"), pool(1, gpu(1, 80), name="h100")
    scene = Scene([cluster("a", *pools)])
    scene.run(deployment(standalone(request(1, memory("20Gi")))))
    scene.serve()
    return scene


def h100() -> Deployment:
    return deployment(standalone(request(1, memory("80Gi"))))


@pytest.mark.proves("R120")
def test_25_a_valid_edit_to_another_kind_moves_once_the_replacement_serves() -> None:
    scene = on_l4()
    moving = scene.run(h100())
    assert places(moving) == ["-a/0", "a/1"]
    assert [pools_of(p)["main"] for p in moving.placements] == ["l4", "h100"]
    scene.serve()
    assert places(scene.run(h100())) == ["a/1"]


def test_25_without_a_free_one_of_that_kind_the_old_stays_and_waits_for_room() -> None:
    scene = on_l4()
    scene.run(deployment(standalone(request(1, memory("80Gi"))), name="other"))
    decided = scene.decide(h100())
    assert (places(decided), decided.unplaced, decided.ending) == (["a/0"], 0, ())
    assert decided.rolling is not None
    assert decided.rolling.no_room
