"""What a call does not work out within its allowance is postponed: nothing is decided on it, the next call goes on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from modelplane.lru import FairLru, owned_by
from modelplane.model.fleet import Effect, Taint
from modelplane.model.placement import Schedule
from modelplane.model.refusal import SearchBound
from modelplane.scheduling import search_budget
from modelplane.scheduling.matching import options, selectors, ways
from modelplane.scheduling.room import search
from modelplane.scheduling.search_budget import Allowance, Meter, SearchBudget, Searches, allowed
from modelplane.scheduling.words.report import explain
from unit.scheduling.scene import Scene, places, replica
from unit.scheduling.test_search_budget import EACH, FIRST, OURS, fleet

SEARCHES = (selectors.VERDICTS, ways.MATCHES, search.ASSIGNMENTS, search.COUNTS)
_LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    for searches in SEARCHES:
        monkeypatch.setattr(searches, "_remembered", FairLru(_LIMIT))
    monkeypatch.setattr(options, "_ASSEMBLED", FairLru(_LIMIT))


def passes(scene: Scene, states: int) -> Iterator[Schedule]:
    """Yield the passes of calls that may take so many states, up to the first that postpones nothing."""
    postponed = True
    while postponed:
        with allowed(Allowance(states)):
            found = scene.decide(OURS)
        yield found
        postponed = found.postponed


def test_what_is_not_reached_is_postponed_and_the_next_pass_continues_there() -> None:
    counted = [
        sum(isinstance(each, SearchBound) and each.postponed for each in found.refusals.values())
        for found in passes(Scene(fleet(0, 0, 0, 0, 0)), FIRST + EACH)
    ]
    assert counted == [3, 0]


@pytest.mark.proves("R19")
@pytest.mark.parametrize("others", [1, 2, 8])
def test_a_search_goes_on_whatever_other_namespaces_search_in_between(others: int) -> None:
    scene = Scene(fleet(*[0] * 8))
    left: list[int] = []
    caches: list[Any] = [options._ASSEMBLED, *(searches._remembered for searches in SEARCHES)]
    while not left or left[-1]:
        with owned_by("ours"), allowed(Allowance(FIRST + EACH)):
            found = scene.decide(OURS)
        left.append(sum(isinstance(each, SearchBound) for each in found.refusals.values()))
        for other in range(others):
            with owned_by(f"other-{other}"):
                for cache in caches:
                    for number in range(100 // others):
                        cache.put((other, len(left), number), None, _LIMIT // 50)
        assert len(left) <= 8
    assert left == sorted(left, reverse=True)


@pytest.mark.proves("R19")
def test_nothing_is_placed_while_a_cluster_is_not_looked_at() -> None:
    first, *_, last = passes(Scene(fleet(1, 1, 1, 1, 8)), 2 * FIRST)
    assert (places(first), first.unplaced) == ([], 1)
    assert {"c4"} <= first.refusals.keys() < {"c0", "c1", "c2", "c3", "c4"}  # some would take it
    assert places(last) == ["c4/0"]  # the one with most room, which was looked at last


@pytest.mark.proves("R19")
def test_a_serving_replica_is_not_evicted_while_a_cluster_is_not_looked_at() -> None:
    clusters = fleet(0, 0, 0, 1)
    clusters[3] = replace(clusters[3], taints=(Taint("out", Effect.NO_EXECUTE),))
    first, *_, last = passes(Scene(clusters, [replica(OURS, "c3/0")]), FIRST + EACH)
    assert [len(each.ending) for each in (first, last)] == [0, 1]


def test_a_pass_that_continues_is_not_settled_and_says_how_far_it_is() -> None:
    first = next(passes(Scene(fleet(0, 0, 0, 0)), FIRST))
    assert not first.settled
    said = explain(first, OURS)
    assert said.reason == "Searching"
    assert said.message == (
        "0 of 1 replicas scheduled: the search for room takes several passes, and the next one continues it: "
        "3 of 4 clusters are still to be looked at"
    )


@pytest.mark.parametrize(
    ("states", "goes_on", "turns", "postponed"),
    [(10, True, 0, True), (40, True, 1, True), (400, True, 1, False), (400, False, 1, True)],
)
def test_a_long_call_takes_its_turn_once_and_ends_where_it_gets_none(
    states: int, goes_on: bool, turns: int, postponed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_budget, "SHORT_STATES", 20)
    asked: list[bool] = []

    def turn() -> bool:
        asked.append(goes_on)
        return goes_on

    with allowed(Allowance(states, turn)):
        found = Scene(fleet(*(0 for _ in range(50)))).decide(OURS)
    assert (len(asked), found.postponed) == (turns, postponed)


def test_nothing_after_a_postponed_search_is_decided_even_if_it_is_cached() -> None:
    found: Searches[int, int] = Searches(1 << 20, lambda _key, _found: 0)

    def work_out(meter: Meter) -> int:
        meter.spend(10)
        return 7

    assert found.find(0, SearchBudget(), work_out) == 7
    with allowed(Allowance(5)):
        budget = SearchBudget()
    assert [found.find(key, budget, work_out) for key in (1, 0)] == [SearchBound(budget.states, postponed=True)] * 2
