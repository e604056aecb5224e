"""How an edit reaches replicas that run: the worked cases, and each rule of a rollout alone."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Deployment, Engine, Member, Role
from modelplane.model.fleet import Effect, Taint
from modelplane.model.placement import EndCause, Schedule, Stamp
from modelplane.model.rollout import Amount, Rollout
from profiles import OTHER_PORT, with_content, with_engines
from unit.scheduling.scene import (
    Scene,
    at_once,
    cluster,
    deployment,
    gpu,
    nodes,
    places,
    pool,
    replica,
    request,
    stamped,
    standalone,
)


def old(replicas: int = 1, rollout: Rollout | None = None) -> Deployment:
    """Return a deployment of whole nodes at its first revision."""
    return with_content(replace(deployment(replicas=replicas), rollout=rollout or Rollout()), "v1")


def edited(one: Deployment, content: str = "v2") -> Deployment:
    return with_content(one, content)


def serving(one: Deployment, **counts: int) -> Scene:
    """Return clusters of so many nodes, on which the deployment serves."""
    scene = Scene(nodes(**counts))
    for _ in range(one.replicas):
        scene.run(one)
        scene.serve()
    return scene


def stamps(decided: Schedule) -> dict[str, Stamp]:
    return {f"{p.cluster}/{p.index}": p.stamp for p in decided.placements}


def carried(scene: Scene) -> list[str]:
    return sorted(replica.content for replica in scene.replicas.values())


@pytest.mark.proves("R50", "R122")
def test_27_an_edit_surges_where_there_is_room_one_replica_at_a_time() -> None:
    one = old(3)
    scene = serving(one, a=1, b=1, c=1, d=0)
    scene.change("d", pools=nodes(d=1)[0].pools)
    first = scene.run(edited(one))
    assert [place for place in places(first) if not place.startswith("-")][-1] == "d/0"
    assert len([place for place in places(first) if place.startswith("-")]) == 1
    assert (first.ending, carried(scene)) == ((), ["v1", "v1", "v1", "v2"])
    assert places(scene.run(edited(one))) == places(first)
    scene.serve()
    second = scene.run(edited(one))
    assert [end.cause for end in second.ending] == [EndCause.ROLLED_OUT]
    for _ in range(4):
        scene.serve()
        last = scene.run(edited(one))
    assert (carried(scene), last.rolling) == (["v2", "v2", "v2"], None)


@pytest.mark.proves("R53", "R122")
def test_27_without_room_one_replica_is_changed_in_place_and_the_next_once_it_serves() -> None:
    one = old(3)
    scene = serving(one, a=1, b=1, c=1)
    for many in (1, 2, 3):
        decided = scene.run(edited(one))
        assert (decided.ending, carried(scene).count("v2")) == ((), many)
        assert carried(scene).count("v2") == many
        scene.run(edited(one))
        assert carried(scene).count("v2") == many
        scene.serve()


@pytest.mark.proves("R56", "R123")
def test_28_a_bad_edit_leaves_the_others_serving_and_the_old_manifest_puts_the_changed_one_back_at_once() -> None:
    one = old(3)
    scene = serving(one, a=1, b=1, c=1)
    for _ in range(5):
        decided = scene.run(edited(one, "bad"))
    assert carried(scene) == ["bad", "v1", "v1"]
    assert decided.rolling is not None
    assert decided.rolling.waiting_for is not None
    back = scene.run(one)
    assert (carried(scene), set(stamps(back).values())) == (["v1", "v1", "v1"], {Stamp.APPLY})


@pytest.mark.proves("R50")
@pytest.mark.parametrize(("copies", "complete", "goes"), [(1, False, False), (2, False, True), (1, True, True)])
def test_a_replica_ends_for_another_once_that_is_complete_or_has_as_many_copies_that_serve(
    copies: int, complete: bool, goes: bool
) -> None:
    one = old()
    scene = serving(one, a=1, b=1)
    (had,) = scene.replicas.values()
    scene.replicas[had.uid] = replace(had, copies=2, complete=False)
    first = scene.run(edited(one))
    assert sorted(places(first)) == sorted([f"-{had.cluster}/0", f"{'b' if had.cluster == 'a' else 'a'}/0"])
    new = next(each for each in scene.replicas.values() if each.uid != had.uid)
    now = replace(new, ready=True, has_served=True, served_content=new.content, copies=copies, complete=complete)
    scene.replicas[new.uid] = replace(now, served_engines=new.engines if complete else None)
    assert [end.replica.uid for end in scene.run(edited(one)).ending] == ([had.uid] if goes else [])


def crash(scene: Scene, *uids: str) -> None:
    """Let containers of replicas end with an error; of all replicas if none are said."""
    scene.flap(*(uids or tuple(scene.replicas)))
    for uid in uids or tuple(scene.replicas):
        scene.replicas[uid] = replace(scene.replicas[uid], crashed=True)


@pytest.mark.proves("R48")
@pytest.mark.parametrize("gang", [False, True])
def test_the_only_replica_on_a_full_fleet_is_changed_in_place_once_it_has_crashed(gang: bool) -> None:
    one = old()
    if gang:
        members = (Member(Role.LEADER, 1, (request(),)), Member(Role.WORKER, 1, (request(),)))
        one = with_engines(one, (Engine("main", members),))
    scene = serving(one, a=2 if gang else 1)
    crash(scene)
    changed = scene.run(edited(one))
    assert (carried(scene), changed.ending) == (["v2"], ())
    scene.serve()
    assert scene.run(edited(one)).rolling is None


NOT_REPAIRED: dict[str, Rollout] = {"paused": Rollout(paused=True), "its probe fails": Rollout()}


@pytest.mark.proves("R48")
@pytest.mark.parametrize(("why", "rollout"), NOT_REPAIRED.items(), ids=NOT_REPAIRED)
def test_a_replica_that_is_paused_or_only_fails_its_probe_is_not_changed_outside_the_budget(
    why: str, rollout: Rollout
) -> None:
    one = old(1, rollout)
    scene = serving(one, a=1)
    crash(scene) if why == "paused" else scene.flap(*scene.replicas)
    for _ in range(3):
        scene.run(edited(one))
    assert carried(scene) == ["v1"]


def test_a_crashed_replica_on_a_cluster_that_does_not_answer_is_not_changed() -> None:
    one = old()
    scene = serving(one, a=1)
    crash(scene)
    scene.change("a", answers=False)
    scene.run(edited(one))
    assert carried(scene) == ["v1"]


@pytest.mark.proves("R48")
def test_crashed_replicas_are_repaired_one_after_the_other_so_that_a_bad_edit_breaks_one() -> None:
    one = replace(old(4), rollout=Rollout(max_surge=Amount(0), max_unavailable=Amount(1)))
    scene = serving(one, a=4)
    first, second, *_ = scene.replicas
    crash(scene, first, second)
    for _ in range(3):
        scene.run(edited(one))
        assert carried(scene) == ["v1", "v1", "v1", "v2"]
    repaired = next(uid for uid, each in scene.replicas.items() if each.content == "v2")
    assert repaired in (first, second)
    scene.replicas[repaired] = replace(scene.replicas[repaired], crashed=False)
    scene.serve(repaired)
    scene.run(edited(one))
    assert {scene.replicas[uid].content for uid in (first, second)} == {"v2"}


@pytest.mark.proves("R48")
def test_where_no_replica_serves_all_that_have_crashed_are_repaired_at_once() -> None:
    one = replace(old(3), rollout=Rollout(max_unavailable=Amount(0)))
    scene = serving(one, a=3)
    crash(scene)
    scene.run(edited(one))
    assert carried(scene) == ["v2", "v2", "v2"]


@pytest.mark.proves("R124")
def test_29_without_room_and_with_nothing_to_spare_it_waits_and_surges_once_there_is_room() -> None:
    one = old(1, Rollout(max_unavailable=Amount(0)))
    scene = serving(one, a=1)
    waiting = scene.run(edited(one))
    assert (carried(scene), waiting.rolling and waiting.rolling.no_room) == (["v1"], True)
    scene.change("a", pools=nodes(a=2)[0].pools)
    assert places(scene.run(edited(one))) == ["-a/0", "a/1"]


@pytest.mark.proves("R127")
def test_32_by_default_the_only_replica_on_a_full_fleet_serves_on() -> None:
    one = old()
    scene = serving(one, a=1)
    for _ in range(3):
        decided = scene.run(edited(one))
    assert (carried(scene), decided.rolling and decided.rolling.no_room) == (["v1"], True)


def of_copies(replicas: int, copies: int = 2, rollout: Rollout | None = None) -> Deployment:
    """Return a deployment of so many replicas, each of copies of a whole node."""
    return with_engines(old(replicas, rollout), (standalone(copies=copies),))


def starts(scene: Scene, uid: str, *, left: int) -> None:
    """Let a replica be changed copy by copy, so that `left` copies serve and the next one does not come up yet."""
    now = replace(scene.replicas[uid], ready=left > 0, complete=False, copies=left)
    scene.replicas[uid] = now


@pytest.mark.proves("R55", "R130")
def test_35_copies_are_changed_without_room_for_a_surge_in_one_replica_after_the_other() -> None:
    one = of_copies(2)
    scene = serving(one, a=4)
    for many in (1, 2):
        decided = scene.run(edited(one))
        assert (decided.ending, carried(scene).count("v2")) == ((), many)
        changed = [uid for uid, each in scene.replicas.items() if each.content == "v2" != each.served_content]
        starts(scene, *changed, left=1)
        scene.run(edited(one))
        assert carried(scene).count("v2") == many
        scene.serve()
    assert scene.run(edited(one)).rolling is None


def test_where_there_is_room_a_replica_with_copies_surges() -> None:
    one = of_copies(1)
    scene = serving(one, a=4)
    assert places(scene.run(edited(one))) == ["-a/0", "a/1"]


TAKEN_DOWN: dict[str, tuple[Deployment, Deployment]] = {
    "one copy": (of_copies(1, 1), edited(of_copies(1, 1))),
    "one copy from now on": (of_copies(1), edited(of_copies(1, 1))),
    "another port": (of_copies(1), edited(of_copies(1), OTHER_PORT)),
    "paused": (of_copies(1), edited(of_copies(1, rollout=Rollout(paused=True)))),
}


@pytest.mark.proves("R55")
@pytest.mark.parametrize(("one", "edit"), TAKEN_DOWN.values(), ids=TAKEN_DOWN)
def test_an_edit_that_copies_do_not_serve_through_waits_for_room(one: Deployment, edit: Deployment) -> None:
    scene = serving(one, a=one.profiles[0].engines[0].copies)
    for _ in range(3):
        scene.run(edit)
    assert carried(scene) == ["v1"]


def test_a_replica_with_copies_that_cannot_be_seen_is_not_changed() -> None:
    one = of_copies(1)
    scene = serving(one, a=2)
    scene.change("a", answers=False)
    scene.run(edited(one))
    assert carried(scene) == ["v1"]


@pytest.mark.proves("R55")
@pytest.mark.parametrize(("then", "has"), [("v4", "v4"), ("v1", "v1"), (OTHER_PORT, "v2")])
def test_while_its_copies_are_changed_a_replica_takes_another_edit_unless_that_would_end_what_serves(
    then: str, has: str
) -> None:
    one = of_copies(1)
    scene = serving(one, a=2)
    scene.run(edited(one))
    (uid,) = scene.replicas
    starts(scene, uid, left=1)
    scene.run(edited(one, then))
    assert carried(scene) == [has]


@pytest.mark.proves("R52")
def test_a_surge_never_needs_a_response_larger_than_what_can_be_sent() -> None:
    one = replace(old(3), carried=3)
    scene = serving(one, a=1, b=1, c=1, d=0)
    scene.change("d", pools=nodes(d=1)[0].pools)
    waiting = scene.run(replace(edited(one), rollout=Rollout(max_unavailable=Amount(0))))
    assert waiting.rolling is not None
    assert (waiting.rolling.too_large, carried(scene)) == (True, ["v1", "v1", "v1"])
    in_place = scene.run(edited(one))
    assert (carried(scene), [place for place in places(in_place) if place[0] == "d"]) == (["v1", "v1", "v2"], [])
    scene.serve()
    assert "d/0" in places(scene.run(replace(edited(one), carried=4)))


def _on(**pools: tuple[int, int]) -> Scene:
    """Return clusters of one pool, each of so many nodes with GPUs of so many Gi."""
    return Scene(cluster(name, pool(count, gpu(gib=gib))) for name, (count, gib) in pools.items())


SURGES: dict[str, tuple[dict[str, tuple[int, int]], str]] = {
    "more capable devices": ({"a": (1, 24), "b": (1, 80)}, "a/0"),
    "devices that are alike": ({"a": (1, 24), "b": (1, 24)}, "-a/0 b/0"),
    "less capable devices": ({"a": (1, 80), "b": (1, 24)}, "-a/0 b/0"),
}


@pytest.mark.proves("R51")
@pytest.mark.parametrize(("pools", "where"), SURGES.values(), ids=SURGES)
def test_a_surge_takes_no_more_capable_devices_than_the_replica_has(
    pools: dict[str, tuple[int, int]], where: str
) -> None:
    one, scene = old(), _on(**{name: (count if name == "a" else 0, gib) for name, (count, gib) in pools.items()})
    scene.run(one)
    scene.serve()
    scene.change("b", pools=_on(**pools).clusters["b"].pools)
    assert " ".join(places(scene.run(edited(one)))) == where


def test_where_no_surge_finds_as_capable_devices_another_replica_may_still_find_them() -> None:
    one = old(2)
    scene = _on(a=(1, 80), b=(1, 24), c=(0, 80))
    scene.run(one)
    scene.serve()
    scene.change("c", pools=_on(c=(1, 80)).clusters["c"].pools)
    assert {"-a/0", "c/0"} <= set(places(scene.run(edited(one))))


@pytest.mark.proves("R47")
def test_a_replica_that_never_served_is_changed_at_once() -> None:
    one = old(3)
    scene = Scene(nodes(a=3))
    scene.run(one)
    scene.run(edited(one))
    assert carried(scene) == ["v2", "v2", "v2"]


@pytest.mark.proves("R49")
def test_a_replica_that_does_not_serve_now_is_changed_before_younger_ones() -> None:
    one = old(3, Rollout(max_surge=Amount(0), max_unavailable=Amount(2)))
    scene = serving(one, a=3)
    oldest = min(scene.replicas.values(), key=lambda replica: replica.created)
    scene.replicas[oldest.uid] = replace(oldest, ready=False)
    scene.run(edited(one))
    assert scene.replicas[oldest.uid].content == "v2"


@pytest.mark.proves("R46")
def test_a_ready_of_an_earlier_generation_does_not_count_as_serving() -> None:
    one = old(4, Rollout(Amount(0), Amount(2)))
    scene = serving(one, a=4)
    restamped = sorted(scene.replicas)[:2]
    scene.replicas.update({uid: replace(scene.replicas[uid], stale=True) for uid in restamped})
    scene.run(edited(one))
    untouched = [r.uid for r in scene.replicas.values() if r.content == "v1"]
    assert (sorted(untouched), carried(scene).count("v2")) == (sorted(set(scene.replicas) - set(restamped)), 2)


def test_one_whose_claims_are_edited_has_not_served_with_them_however_ready_it_is() -> None:
    one = with_engines(old(3, Rollout(Amount(0), Amount(1))), (standalone(request(4)),))
    scene = serving(one, a=3)
    for _ in range(3):
        scene.run(with_engines(one, (standalone(request(8)),)))
    asked = [claim.count for r in scene.replicas.values() for claim in r.engines[0].members[0].claims]
    assert sorted(asked) == [4, 4, 8]


@pytest.mark.proves("R53")
def test_a_replica_that_only_a_surge_can_move_is_moved_even_if_maxsurge_is_0() -> None:
    one = replace(old(1, Rollout(Amount(0), Amount(1), follow_selectors=True)), cluster_selector={"region": "eu"})
    scene = Scene([cluster("a", pool(1, gpu()), region="eu")])
    scene.run(one)
    scene.serve()
    scene.clusters["b"] = cluster("b", pool(1, gpu()), region="us")
    moved = scene.run(replace(one, cluster_selector={"region": "us"}))
    assert places(moved) == ["-a/0", "b/0"]


def test_what_grows_where_it_stands_has_room_beside_what_surged_in_the_same_pass() -> None:
    one = old(2, Rollout(Amount(2), Amount(1)))
    scene = serving(one, a=4)
    grown = with_engines(edited(one), (standalone(request(), copies=2),))
    for _ in range(3):
        scene.run(grown)
        assert sum(engine.copies for replica in scene.replicas.values() for engine in replica.engines) <= 4


@pytest.mark.proves("R47")
def test_a_replica_that_never_served_and_has_no_room_for_more_devices_is_replaced_where_there_is_room() -> None:
    one = with_engines(old(), (standalone(request(4)),))
    scene = Scene([cluster("a", pool(1, gpu()))])
    scene.run(replace(with_engines(one, (standalone(request(4)),)), name="rival", uid="rival"))
    scene.run(one)
    scene.clusters["b"] = cluster("b", pool(1, gpu()))
    repair = with_engines(one, (standalone(request(8)),))
    scene.run(repair)
    assert [end.replica.cluster for end in scene.run(repair).ending] == ["a"]


@pytest.mark.parametrize("surge", [0, 1])
def test_what_never_served_and_has_no_room_for_its_repair_is_replaced_where_there_is_room(surge: int) -> None:
    one = old(1, Rollout(Amount(surge), Amount(1)))
    scene = Scene(nodes(a=1, b=0))
    scene.run(edited(one, "bad"))
    repair = with_engines(edited(one), (standalone(request(), copies=2),))
    assert (places(scene.run(repair)), carried(scene)) == (["a/0"], ["bad"])
    scene.change("b", pools=nodes(b=2)[0].pools)
    scene.run(repair)
    assert [end.replica.content for end in scene.run(repair).ending] == ["bad"]
    assert carried(scene) == ["v2"]


@pytest.mark.proves("R53")
@pytest.mark.parametrize("unavailable", [1, 2])
def test_where_no_replica_serves_as_many_are_repaired_at_a_time_as_may_be_unavailable(unavailable: int) -> None:
    one = old(4, Rollout(Amount(0), Amount(unavailable)))
    scene = serving(one, a=4)
    scene.flap(*scene.replicas)
    for many in range(unavailable, 5, unavailable):
        for _ in range(2):
            scene.run(edited(one))
            assert carried(scene).count("v2") == many
            changed = [uid for uid, replica in scene.replicas.items() if replica.content == "v2"]
            scene.replicas.update({uid: replace(scene.replicas[uid], ready=True, stale=True) for uid in changed})
        scene.serve(*(uid for uid, replica in scene.replicas.items() if replica.content == "v2"))


@pytest.mark.proves("R58")
@pytest.mark.parametrize("replicas", [1, 3])
def test_a_surge_for_one_that_does_not_serve_goes_on_until_the_new_one_serves(replicas: int) -> None:
    one = old(replicas)
    scene = serving(one, a=replicas + 2)
    crashed = min(scene.replicas, key=lambda uid: scene.replicas[uid].created)
    scene.flap(crashed)
    begun = places(scene.run(edited(one)))
    for _ in range(3):
        decided = scene.run(edited(one))
        assert (places(decided), decided.ending) == (begun, ())
    scene.serve(*(uid for uid in scene.replicas if uid != crashed))
    assert [end.replica.uid for end in scene.run(edited(one)).ending] == [crashed]


def test_of_the_old_ones_beside_a_surge_the_one_that_stops_serving_ends_and_not_one_that_serves() -> None:
    one = old(3, Rollout(Amount(1), Amount(0)))
    scene = serving(one, a=4)
    leaving = {p.replica.uid for p in scene.run(edited(one)).placements if p.leaving and p.replica}
    new = next(uid for uid, replica in scene.replicas.items() if replica.content == "v2")
    flapped = next(uid for uid in scene.replicas if uid not in {new, *leaving})
    scene.flap(flapped)
    scene.serve(new)
    assert [end.replica.uid for end in scene.run(edited(one)).ending] == [flapped]


@pytest.mark.proves("R58")
def test_an_unreachable_cluster_is_no_reason_to_end_a_serving_replica() -> None:
    one = old(2, Rollout(Amount(1), Amount(0)))
    scene = serving(one, a=1, b=1, c=0)
    scene.change("c", pools=nodes(c=1)[0].pools)
    begun = scene.run(edited(one))
    lost = next(p.cluster for p in begun.placements if p.replica and not p.leaving)
    scene.serve()
    scene.change(lost, answers=False, ready=False)
    assert scene.run(edited(one)).ending == ()


@pytest.mark.proves("R58")
def test_a_replica_that_cannot_be_observed_is_the_last_to_leave_for_a_new_one() -> None:
    one = old(3, Rollout(Amount(1), Amount(0)))
    scene = serving(one, a=1, b=1, c=1, d=0)
    scene.change("d", pools=nodes(d=1)[0].pools)
    scene.run(edited(one))
    for name in "abc":
        scene.change(name, answers=False, ready=False)
        [leaving] = [p.cluster for p in scene.run(edited(one)).placements if p.leaving]
        assert leaving != name
        scene.change(name, answers=True, ready=True)


@pytest.mark.proves("R59")
def test_a_replica_without_a_place_fills_the_budget_of_those_that_do_not_serve() -> None:
    one = old(3, Rollout(Amount(0), Amount(1)))
    scene = serving(one, a=2)
    scene.flap(*scene.replicas)
    scene.run(edited(one))
    assert carried(scene) == ["v1", "v1"]


def test_the_pass_that_changes_one_where_it_stands_waits_for_that_and_not_for_room() -> None:
    one = old(3)
    scene = serving(one, a=3)
    rolling = scene.run(edited(one)).rolling
    assert rolling
    assert rolling.waiting_for
    assert (rolling.no_room, rolling.waiting_for.changes) == (False, True)


@pytest.mark.proves("R59")
def test_a_paused_rollout_does_not_change_a_replica_that_never_served() -> None:
    one = old(1, Rollout(paused=True))
    scene = Scene(nodes(a=2))
    scene.run(one)
    scene.run(edited(one))
    assert carried(scene) == ["v1"]


@pytest.mark.proves("R59")
def test_a_paused_rollout_changes_no_replica_and_places_missing_ones_as_the_spec_says() -> None:
    one = old(2, Rollout(paused=True))
    scene = serving(one, a=4)
    scene.run(edited(one))
    assert carried(scene) == ["v1", "v1"]
    scene.run(replace(edited(one), replicas=3))
    assert carried(scene) == ["v1", "v1", "v2"]


@pytest.mark.proves("R57")
def test_a_replica_on_a_cluster_that_does_not_answer_is_passed_over() -> None:
    one = old(2, Rollout(max_surge=Amount(0), max_unavailable=Amount(2)))
    scene = serving(one, a=1, b=1)
    scene.change("a", answers=False)
    scene.run(edited(one))
    assert {r.cluster: r.content for r in scene.replicas.values()} == {"a": "v1", "b": "v2"}


@pytest.mark.proves("R58")
def test_of_too_many_replicas_the_youngest_outdated_ones_leave_first() -> None:
    one = old(3)
    scene = serving(one, a=3)
    decided = scene.run(replace(edited(one), replicas=2, rollout=Rollout(paused=True)))
    youngest = max(scene.replicas.values(), key=lambda replica: replica.created)
    assert [end.cause for end in decided.ending] == [EndCause.ROLLED_OUT]
    assert all(end.replica.created >= youngest.created for end in decided.ending)


def test_more_copies_alone_are_no_rollout() -> None:
    one = old()
    scene = serving(one, a=2)
    more = with_engines(one, (replace(one.profiles[0].engines[0], copies=2),))
    decided = scene.run(more)
    assert stamps(decided) == {"a/0": Stamp.APPLY}
    assert [replica.engines[0].copies for replica in scene.replicas.values()] == [2]


def test_an_edit_while_more_copies_load_changes_no_more_than_the_budget_allows() -> None:
    one = old(3)
    scene = serving(one, a=6)
    more = with_engines(one, (replace(one.profiles[0].engines[0], copies=2),))
    scene.run(more)
    scene.flap(*scene.replicas)
    for _ in range(3):
        scene.run(edited(more, "bad"))
    assert carried(scene).count("v1") >= 2


@pytest.mark.proves("R60", "P79")
@pytest.mark.parametrize("follow", [False, True])
def test_a_replica_outside_the_selectors_is_named_and_moves_only_where_that_is_asked(follow: bool) -> None:
    one = old(1, Rollout(follow_selectors=follow))
    scene = serving(one, a=1, b=0)
    scene.change("b", pools=nodes(b=1)[0].pools, labels={"region": "eu"})
    narrowed = replace(one, cluster_selector={"region": "eu"})
    decided = scene.run(narrowed)
    assert [(drift.replica.cluster, "region=eu" in drift.why) for drift in decided.drifted] == (
        [] if follow else [("a", True)]
    )
    assert places(decided) == (["-a/0", "b/0"] if follow else ["a/0"])


def test_a_replica_under_a_taint_that_is_no_longer_tolerated_has_drifted() -> None:
    one = old()
    scene = serving(one, a=1)
    scene.change("a", taints=(Taint("maintenance", Effect.NO_SCHEDULE),))
    assert ["maintenance" in drift.why for drift in scene.run(one).drifted] == [True]


@pytest.mark.proves("R60")
@pytest.mark.parametrize(("follow", "behind"), [(False, False), (True, True)])
def test_an_upgrade_is_rolled_out_only_where_that_is_asked(follow: bool, behind: bool) -> None:
    one = at_once(old())
    scene = serving(one, a=1)
    scene.replicas = {uid: replace(r, outdated_builder=True) for uid, r in scene.replicas.items()}
    followed = replace(one, rollout=replace(one.rollout, max_unavailable=Amount(0), follow_upgrades=follow))
    decided = scene.decide(replace(followed, rollout=replace(followed.rollout, max_surge=Amount(1))))
    assert [p.updated for p in decided.placements] == [not behind]


@pytest.mark.proves("R58")
def test_while_a_rollout_is_paused_scale_down_ends_what_crashed_and_not_what_serves_with_earlier_pods() -> None:
    ours = replace(deployment(standalone(copies=2)), rollout=Rollout(paused=True))
    edited = {"content": "v2", "served_content": "v1", "complete": False}
    crashed = replace(replica(ours, "a/0", stamped(copies=2), age=9), ready=False, crashed=True, **edited)  # type: ignore[arg-type]
    serving = replace(replica(ours, "b/0", stamped(copies=2), age=1), copies=1, **edited)  # type: ignore[arg-type]
    decided = Scene(nodes(a=4, b=4), [crashed, serving]).decide(ours)
    assert [(end.replica.cluster, end.cause) for end in decided.ending] == [("a", EndCause.ROLLED_OUT)]


@pytest.mark.proves("R58")
def test_while_a_rollout_is_paused_what_serves_with_earlier_pods_stays_until_a_new_replica_serves() -> None:
    ours = replace(deployment(standalone(copies=2)), rollout=Rollout(paused=True))
    serving = replace(replica(ours, "a/0", stamped(copies=2), age=9), content="v2", complete=False, copies=1)
    scene = Scene(nodes(a=4, c=4), [serving, replica(ours, "c/0", stamped(copies=2), serves=False)])
    assert places(scene.decide(ours)) == ["-a/0", "c/0"]
    scene.serve("uid-team-model-c-0")
    scene.replicas["uid-team-model-c-0"] = replace(scene.replicas["uid-team-model-c-0"], copies=2)
    assert places(scene.decide(ours)) == ["c/0"]


@pytest.mark.parametrize("paused", [True, False])
@pytest.mark.parametrize("answers", [True, False])
def test_scale_down_ends_one_of_two_that_serve_with_the_pods_of_an_earlier_spec(paused: bool, answers: bool) -> None:
    budgets = Rollout(max_surge=Amount(1), max_unavailable=Amount(0), paused=paused)
    ours = replace(deployment(standalone(copies=2)), rollout=budgets)
    edited = {"content": "v2", "served_content": "v1", "complete": False, "copies": 1}
    two = [replace(replica(ours, at, stamped(copies=2), age=age), **edited) for at, age in (("a/0", 9), ("b/0", 1))]  # type: ignore[arg-type]
    clusters = [replace(each, ready=answers, answers=answers) for each in nodes(a=4, b=4)]
    decided = Scene(clusters, two).decide(ours)
    assert [end.replica.cluster for end in decided.ending] == ["b"]
