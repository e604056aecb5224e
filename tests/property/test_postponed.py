"""A call with an allowance decides as one without would, or postpones, whatever it takes and whatever is cached."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.lru import FairLru
from modelplane.model.deployment import Deployment, Profile
from modelplane.model.placement import Schedule, Stamp
from modelplane.model.refusal import SearchBound
from modelplane.scheduling.matching import options, selectors, ways
from modelplane.scheduling.room import search
from modelplane.scheduling.search_budget import (
    CALL_STATES,
    MOST_STATES,
    SEARCH_STATES,
    Allowance,
    Meter,
    SearchBudget,
    Searches,
    allowed,
)
from property.fleet import Fleet, Snapshot, decide
from property.strategies import engine_lists, examples, situations

SEARCHES = (selectors.VERDICTS, ways.MATCHES, search.ASSIGNMENTS, search.COUNTS)


@contextmanager
def caches(limit: int) -> Iterator[None]:
    """Give the searches empty caches of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        for searches in SEARCHES:
            patch.setattr(searches, "_remembered", FairLru(limit))
        patch.setattr(options, "_ASSEMBLED", FairLru(limit))
        yield


@st.composite
def edited(draw: st.DrawFn) -> tuple[Deployment, Snapshot]:
    """Draw a deployment some of whose replicas serve, and that may have been edited, scaled or moved since."""
    deployment, before = draw(situations())
    fleet = Fleet(before.clusters, before.replicas)
    if draw(st.booleans()):
        fleet.carry_out(deployment, decide(deployment, fleet.snapshot()).schedule)
        fleet.serve(draw(st.sets(st.sampled_from(sorted(fleet.replicas)))) if fleet.replicas else ())
        if draw(st.booleans()):
            deployment = replace(deployment, profiles=(Profile(draw(engine_lists())),))
        deployment = replace(deployment, replicas=draw(st.integers(0, 4)))
        if draw(st.booleans()) and len(fleet.clusters) > 1:
            del fleet.clusters[draw(st.sampled_from(sorted(fleet.clusters)))]
    return deployment, fleet.snapshot()


def decided(of: tuple[Deployment, Snapshot], states: int) -> Schedule:
    with allowed(Allowance(states)):
        return decide(*of).schedule


def assert_of(expected: Schedule, found: Schedule) -> None:
    """Assert that a schedule is the expected one, or has only things of it and postpones the rest."""
    if not found.postponed:
        assert found == expected
        return
    refused = {
        name: each for name, each in found.refusals.items() if not (isinstance(each, SearchBound) and each.postponed)
    }
    assert {name: expected.refusals.get(name, each) for name, each in refused.items()} == refused
    assert not {each.cluster for each in expected.placements if each.replica is None} & refused.keys()
    assert [each for each in found.placements if each.replica is None] == []
    assert set(map(repr, found.ending)) <= set(map(repr, expected.ending))
    wanted = {each.replica.uid: each for each in expected.placements if each.replica}
    for each in found.placements:
        if each.replica and each.stamp is not Stamp.HOLD and each.replica.uid in wanted:
            assert each.engines == wanted[each.replica.uid].engines


@pytest.mark.proves("R19")
@given(edited(), st.lists(st.integers(0, 100), min_size=1, max_size=3), st.sampled_from((0, 2_000, 20_000, 1 << 20)))
@examples(100)
def test_a_pass_decides_as_without_an_allowance_or_postpones_whatever_is_evicted(
    of: tuple[Deployment, Snapshot], allowances: list[int], limit: int
) -> None:
    with caches(1 << 20):
        expected = decide(*of).schedule
    with caches(limit):
        for states in allowances:
            assert_of(expected, decided(of, states))


@pytest.mark.proves("R19")
@given(edited(), st.sampled_from((100, 200, 1_000)))
@examples(40)
def test_passes_that_postpone_go_on_until_everything_is_decided(of: tuple[Deployment, Snapshot], states: int) -> None:
    with caches(1 << 20):
        expected = decide(*of).schedule
    with caches(1 << 20):
        found = [decided(of, states) for _ in range(10)]
    assert found[-1] == expected


def count_calls(sizes: Sequence[int]) -> int:
    """Return how many calls it takes to finish searches of so many states each, with the allowance of a server."""
    searches: Searches[int, int] = Searches(1 << 20, lambda _key, _value: 1)

    def search(size: int) -> Callable[[Meter], int]:
        def spend(meter: Meter) -> int:
            for _ in range(size // 1_000):
                meter.spend(1_000)
            return size

        return spend

    for calls in itertools.count(1):
        with allowed(Allowance()):
            budget = SearchBudget(clusters=1_000)
            for key, size in enumerate(sizes):
                searches.find(key, budget, search(size))
        if not budget.postponed:
            return calls
    raise AssertionError


SIZES = st.integers(1, SEARCH_STATES // 1_000).map(lambda thousands: thousands * 1_000)


@examples(100)
@given(st.lists(SIZES, min_size=1, max_size=160))
@example([31_000] * 160)
@example([CALL_STATES] * 160)
def test_two_calls_finish_at_least_the_states_of_one_allowance(sizes: Sequence[int]) -> None:
    assert sum(sizes) <= MOST_STATES
    assert count_calls(sizes) <= 2 * sum(sizes) // CALL_STATES + 1


def test_no_decision_takes_more_than_334_calls() -> None:
    """What docs/scheduling.md and SECURITY.md say."""
    assert 2 * MOST_STATES // CALL_STATES + 1 == 334
