"""The benchmarks measure what they say."""

import json
from dataclasses import replace

import pytest

from bench import gateway, races, replicas, soak
from bench.catalogued import scenes
from bench.connection import CallError, Connection
from bench.figures import Figure, at_most, at_pace, best, compared, to_json
from bench.fleet import cluster, deployment, others
from bench.measure import served, timed
from bench.pace import Pace, pace
from bench.passes import NotSettledError, Scene, Store, run_pass, settle
from bench.tenants.table import Case, measured
from modelplane.step import Request
from modelplane.transport import messages
from modelplane.transport.request import read
from modelplane.transport.structs import decode, encode
from unit.compose_replica.replicas import TOPOLOGIES
from unit.transport.server_processes import PATIENCE


@pytest.mark.parametrize(
    ("figure", "met", "ratio"),
    [
        (at_most("a", 1.0, 1.0, "s"), True, None),
        (at_most("a", 1.1, 1.0, "s", yardstick=2.2), False, 0.5),
        (compared("a", 4.0, 2.0, 2.0, "ms"), True, 2.0),
        (compared("a", 4.1, 2.0, 2.0, "ms"), False, 2.05),
        (Figure("a", 5.0, "MiB"), True, None),
    ],
)
def test_a_figure_is_met_up_to_its_limit(figure: Figure, met: bool, ratio: float | None) -> None:
    assert (figure.met, figure.ratio) == (met, ratio)


def test_a_slower_machine_is_allowed_more_time_and_no_more_of_anything_else() -> None:
    measured = [
        at_most("seconds", 1.5, 1.0, "s"),
        replace(at_most("processor seconds", 1.5, 1.0, "s"), processor=True),
        at_most("size", 1.5, 1.0, "MiB"),
        compared("ratio", 3.0, 2.0, 1.0, "ms"),
        Figure("without a limit", 9.0, "s"),
    ]
    paces = iter([Pace(2.0, 1.2), Pace(1.25, 1.3), Pace(1.0, 1.0)])
    found = list(at_pace(measured, lambda: next(paces)))
    assert [figure.allowed for figure in found] == [2.0, 1.3, 1.0, 1.0, None]
    assert [figure.met for figure in found] == [True, False, False, False, True]


def test_the_pace_is_never_better_than_that_of_the_machine_that_limits_were_set_on() -> None:
    found = pace()
    assert min(found.waited, found.processor) >= 1.0


def test_a_limit_is_missed_only_by_a_figure_that_misses_it_twice() -> None:
    once = [at_most("a", 3.0, 2.0, "s"), at_most("b", 1.0, 2.0, "s"), at_most("c", 3.0, 2.0, "s")]
    again = [at_most("a", 1.5, 2.0, "s"), at_most("b", 3.0, 2.0, "s"), at_most("c", 4.0, 2.0, "s")]
    assert [(figure.value, figure.met) for figure in best(once, again)] == [(1.5, True), (1.0, True), (4.0, False)]


def test_one_missed_limit_misses_all() -> None:
    report = json.loads(to_json([at_most("a", 1.0, 2.0, "s"), at_most("b", 3.0, 2.0, "s")]))
    assert (report["met"], [row["met"] for row in report["figures"]]) == (False, [True, False])


def _store(clusters: int) -> Store:
    return Store([*map(cluster, range(clusters)), *others(clusters, 2 * clusters)])


def test_a_settled_pass_fetches_the_same_whatever_the_fleet_and_is_timed_beside_the_yardstick() -> None:
    with served() as on:
        scenes = [settle(Scene(deployment("some", 3), {}, _store(size)), on.steps()) for size in (4, 12)]
        small, large = timed(scenes, on, times=2)
    assert [len(scene.observed) for scene in scenes] == [6, 6]
    assert small.fetched == large.fetched > 0
    assert min(small.total, small.yardstick, *small.steps.values(), *small.yardsticks.values()) > 0


def test_a_pass_that_is_refused_is_no_measurement() -> None:
    with served("schedule") as on:
        foreign = {**deployment("some", 1), "kind": "Foreign"}
        with pytest.raises(NotSettledError, match="schedule: function schedule composes no Foreign"):
            run_pass(Scene(foreign, {}, _store(1)), on.steps("schedule"))


def _case(kind: str, refused: str) -> Case:
    return Case("some", lambda: Scene({**deployment("some", 1), "kind": kind}, {}, _store(2)), refused=refused)


def test_a_tenant_s_case_is_judged_by_its_first_pass_and_its_peak_memory() -> None:
    time, memory = measured([_case("ModelDeployment", "")])
    assert (time.limit, memory.limit) == (250.0, 300.0)
    assert time.compared == time.value
    assert memory.value > 10


@pytest.mark.parametrize(("kind", "refused"), [("ModelDeployment", "composes no"), ("Foreign", "")])
def test_a_tenant_s_case_that_does_not_end_as_it_says_is_no_measurement(kind: str, refused: str) -> None:
    with pytest.raises(NotSettledError, match="some: expected"):
        list(measured([_case(kind, refused)]))


def test_every_call_of_a_soak_sees_every_object_in_a_version_of_its_own() -> None:
    with served("schedule", "compose-replica") as on:
        for name, scene in (("schedule", soak._placing), ("compose-replica", soak.serving)):
            requests = [soak._last_request(scene(variant), on, name) for variant in range(2)]
            wires = [soak._changed(requests[number % 2], number) for number in range(4)]
            seen = [_keys(read(wire).request) for wire in wires]
            assert min(map(len, seen)) >= 5
            assert len(set().union(*seen)) == sum(map(len, seen))


def test_the_devices_and_a_selector_of_a_soak_differ_from_call_to_call() -> None:
    with served("schedule") as on:
        request = soak._last_request(soak._placing(0), on, "schedule")
    wires = [soak._changed(request, number) for number in range(3)]
    for text in ("{}.0.0", 'semver("1.{}.0")'):
        sought = [text.format(2_000_000 + number).encode() for number in range(3)]
        assert [[each for each in sought if each in wire] for wire in wires] == [[each] for each in sought]


def _keys(request: Request) -> set[object]:
    required = (each for found in request.required.values() for each in found)
    return {each.key for each in (request.composite, *request.observed.values(), *required)}


def test_the_memory_of_a_soak_is_judged_over_what_it_was_when_caches_were_filled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(soak, "CALLS", {"schedule": 20, "compose-replica": 20})
    monkeypatch.setattr(soak, "FILLED", 2)
    monkeypatch.setattr(soak, "SAMPLES", 10)
    schedule, compose, seconds = soak.soak()
    assert [each.limit for each in (schedule, compose, seconds)] == [1.05, 1.05, None]
    assert schedule.compared == pytest.approx(schedule.value / (schedule.yardstick or 0))


def test_a_settled_fleet_has_a_replica_of_each_topology_and_every_one_serves() -> None:
    with served("compose-replica") as on:
        scenes = map(replicas.scene_of, TOPOLOGIES.values())
        last = [run_pass(scene, on.steps("compose-replica")).exchanges[-1].response for scene in scenes]
    statuses = [decode(messages.Response.FromString(each).desired.composite.resource)["status"] for each in last]
    assert [each["served"] for each in statuses] == [True] * 4


def test_every_replica_of_a_settled_fleet_is_another_and_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "FLEET", 10)
    monkeypatch.setattr(replicas, "AGAIN", 1)
    pattern = replicas.Pattern([], b"qwen-0a1b2c3d", [b"uid-0000-fffff"])
    fleet = [pattern.of_another(b"qwen-0a1b2c3d uid-0000-fffff", number) for number in range(2)]
    assert fleet == [b"qwen-0a100000 uid-0000-00000", b"qwen-0a100001 uid-0000-00001"]
    over_bare, computed, resident = replicas.settled_replicas()
    assert (over_bare.limit, computed.value) == (2.0, 0.0)
    assert 30 < resident.value < 205


def test_calls_on_one_connection_are_answered_as_grpc_s_own_client_is() -> None:
    request = Scene(deployment("some", 1), {}, _store(1)).request().SerializeToString()
    padding = messages.Request()
    padding.observed.resources["large"].resource = encode({"text": "x" * 3_000_000})
    with served("schedule") as on, Connection(on.addresses["schedule"]) as connection:
        expected = on.calls["schedule"](request)
        calls = [connection.call([request, padding.SerializeToString()][: 1 + number % 2]) for number in range(20)]
        assert {call.result(PATIENCE).wire for call in calls} == {expected}
        with pytest.raises(CallError, match="no response"):
            connection.call([b"\xff\xff"]).result(PATIENCE)


def test_what_the_gateway_adds_is_measured_at_both_urls_beside_a_direct_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway, "SIZES", {name: (size, 10) for name, (size, _) in gateway.SIZES.items()})
    monkeypatch.setattr(gateway, "AT_ONCE", 16)
    found = list(gateway.gateway())
    assert all(figure.value > 0 and figure.yardstick for figure in found)
    for way in ("service URL", "fleet URL"):
        named = {figure.name for figure in found if figure.name.startswith(f"gateway, {way}, ")}
        wanted = [f"{size}, p{percent}" for size in ("264 B", "20 KB", "1 MB") for percent in (50, 99)]
        assert named == {f"gateway, {way}, {each}" for each in (*wanted, "8 connections")}


def test_of_eight_profiles_only_the_last_is_hosted_and_each_other_is_refused_for_a_reason_of_its_own() -> None:
    _, eight = scenes(4, 8)
    with served("schedule") as on:
        last = run_pass(eight, on.steps("schedule")).exchanges[-1].response
    status = decode(messages.Response.FromString(last).desired.composite.resource)["status"]
    assert {each["profile"] for each in status["placements"]} == {"hosted"}
    assert len(status["placements"]) == 10
    words = (
        "memoryPerGpu",
        "precisionSupport",
        "nvlinkDomainSize",
        "interNodeBandwidth",
        "16 devices",
        "Blackwell",
        "12 nodes",
    )
    said = {each["name"]: each.get("message", "") for each in status["profiles"][:-1]}
    assert [word for word, message in zip(words, said.values(), strict=True) if word not in message] == [], said


def test_races_on_a_fleet_that_is_nearly_full_collide_and_heal_within_the_bound_of_the_rules() -> None:
    collided, rounds, read, unplaced = races.races(clusters=40)
    assert collided.value > 0
    assert (rounds.met, read.met, unplaced.value) == (True, True, 0)
