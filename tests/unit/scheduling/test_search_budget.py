"""The budget of a pass: what it does not reach is refused as such, what was decided stands, and the rest goes on."""

from dataclasses import replace
from typing import Any

import pytest

from modelplane.model.fleet import Attribute, Cluster, Device, Effect, Taint
from modelplane.model.refusal import Closest, NoDevice, NoRoom, Refusal, SearchBound, Tainted
from modelplane.scheduling import search_budget
from modelplane.scheduling.matching import ways
from modelplane.scheduling.matching.match import match_member
from unit.scheduling.scene import GPU, Scene, cluster, deployment, gpu, places, pool, replica, request, standalone

#: Reads what differs from cluster to cluster.
RECENT = f'device.attributes["{GPU}"].driverVersion.isGreaterThan(semver("570.0.0"))'
OURS = deployment(standalone(request(8, RECENT)))
#: One evaluation, six states of matching eight devices from one class, one check of room.
FIRST = 8
#: One evaluation and one check of room: which entry satisfies which request is the same on every cluster.
EACH = 2
NO_ROOM = NoRoom("main", 1, 0, pool="x")


def driven(driver: str, count: int) -> Device:
    return replace(gpu(count), attributes=(Attribute("driverVersion", "version", driver),))


def fleet(*nodes: int, driver: str = "580") -> list[Cluster]:
    """Return clusters with so many nodes, no two of which have the same driver or as many devices on a node."""
    return [cluster(f"c{at}", pool(each, driven(f"{driver}.{at}.0", 8 + at))) for at, each in enumerate(nodes)]


@pytest.fixture(autouse=True)
def only_for_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_budget, "CLUSTER_STATES", 0)


@pytest.mark.parametrize("decided", range(5))
def test_each_cluster_takes_its_states_and_what_was_decided_stays_decided(
    decided: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = FIRST + EACH * (decided - 1) if decided else FIRST - 1
    monkeypatch.setattr(search_budget, "PASS_STATES", states)
    expected: dict[str, Refusal] = {f"c{at}": NO_ROOM if at < decided else SearchBound(states) for at in range(4)}
    for _ in range(2):
        found = Scene(fleet(0, 0, 0, 0)).decide(OURS)
        assert found.refusals == expected
        assert found.placements == ()


def test_a_device_that_does_not_match_takes_the_states_of_its_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_budget, "PASS_STATES", 3)
    found = Scene(fleet(1, 1, 1, driver="550")).decide(OURS).refusals
    closest = [Closest("driverVersion > 570.0.0", f"{GPU}, gpu", f"550.{at}.0") for at in range(2)]
    refused: dict[str, Refusal] = {f"c{at}": NoDevice("main", "gpu", 0, closest[at], pool="x") for at in range(2)}
    assert found == {**refused, "c2": SearchBound(3)}


@pytest.mark.parametrize(("states", "placed"), [(FIRST + EACH, []), (100, ["c2/0"])])
def test_what_has_room_beyond_the_budget_is_not_found(
    states: int, placed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_budget, "PASS_STATES", states)
    assert places(Scene(fleet(0, 0, 1)).decide(OURS)) == placed


def test_a_replica_is_evicted_though_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_budget, "PASS_STATES", 1)
    clusters = fleet(1, 1, 1)
    clusters[1] = replace(clusters[1], taints=(Taint("out", Effect.NO_EXECUTE),))
    ours = replace(OURS, replicas=2)
    stays, goes, replaces = (replica(ours, f"c{at}/0") for at in range(3))
    found = Scene(clusters, [stays, goes]).decide(ours)
    assert places(found) == ["c0/0", "-c1/0"]
    assert found.refusals == {"c0": SearchBound(1), "c1": Tainted("out", Effect.NO_EXECUTE), "c2": SearchBound(1)}
    found = Scene(clusters, [stays, goes, replaces]).decide(ours)
    assert places(found) == ["c0/0", "c2/0"]
    assert [end.replica for end in found.ending] == [goes]


def test_a_deployment_is_scaled_down_though_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_budget, "PASS_STATES", 0)
    found = Scene(fleet(1, 1, 1), [replica(OURS, f"c{at}/0") for at in range(3)]).decide(OURS)
    assert len(found.placements) == 1
    assert len(found.ending) == 2


def test_a_search_that_a_pass_could_not_end_is_made_again_only_with_more_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = []

    def counted(*args: Any) -> Any:
        searched.append(args)
        return match_member(*args)

    monkeypatch.setattr(ways, "match_member", counted)
    ours = deployment(standalone(*(request(1, RECENT, name=f"own-{at}") for at in range(4))))
    for states, searches in ((4, 1), (4, 1), (3, 1), (5, 2), (100, 3), (100, 3), (5, 3)):
        monkeypatch.setattr(search_budget, "PASS_STATES", states)
        refusal = Scene(fleet(0)).decide(ours).refusals["c0"]
        assert refusal == (NO_ROOM if states == 100 else SearchBound(states))
        assert len(searched) == searches


def test_a_device_that_kubernetes_would_refuse_matches_nothing_whatever_selectors_read() -> None:
    wrong = driven("none", 8)
    found = Scene([cluster("c", pool(1, wrong))]).decide(deployment(standalone(request(8)))).refusals["c"]
    assert isinstance(found, NoDevice)
    assert found.closest is not None
    assert found.closest.error.startswith("attributes[driverVersion]: not a semantic version")


@pytest.mark.parametrize(
    ("clusters", "states"), [(0, 400_000), (1, 500_000), (96, 10_000_000), (97, 10_000_000), (5_000, 10_000_000)]
)
def test_a_pass_has_states_for_each_cluster_up_to_a_bound(clusters: int, states: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_budget, "CLUSTER_STATES", 100_000)
        assert search_budget.SearchBudget(clusters).states == states


@pytest.mark.proves("R19")
def test_searches_that_hit_their_bound_do_not_have_the_states_of_the_whole_fleet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_budget, "CLUSTER_STATES", 50_000)
    spent = search_budget.SearchBudget(100)
    searches: search_budget.Searches[int, int] = search_budget.Searches(1 << 20, lambda _key, _found: 0)

    def endless(meter: search_budget.Meter) -> int:
        meter.spend(search_budget.SEARCH_STATES + 1)
        return 0

    assert searches.find(0, spent, endless) == SearchBound(search_budget.SEARCH_STATES)
    assert searches.find(1, spent, lambda _meter: 7) == 7
    assert searches.find(2, spent, endless) == SearchBound(search_budget.SEARCH_STATES)
    assert spent.left == 0
    assert searches.find(3, spent, lambda _meter: 7) == SearchBound(spent.states)
