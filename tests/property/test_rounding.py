"""Groups that are too many to compare are rounded up: what has room then has room indeed, and few are left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.scheduling.pools.groups import Groups, all_with_nodes, size
from modelplane.scheduling.room.blocking import Shortage
from modelplane.scheduling.room.room import has_room, room_states, shortage, shortage_of
from modelplane.scheduling.room.rounding import MOST_WORK, rounded, work
from property.groups import pools
from property.strategies import examples

#: Least work for which groups are rounded, from always to never; each ends at another level.
LIMITS = (0, 4, 8, 16, 32, 64)


@pytest.mark.proves("R23")
@given(pools(), st.sampled_from(LIMITS))
@examples(1000)
def test_groups_that_have_room_when_rounded_have_room(pool: tuple[int, tuple[int, ...], Groups], limit: int) -> None:
    nodes, counts, groups = pool
    few = rounded(nodes, counts, groups, limit)
    assert sum(many for _, many in few.groups) == sum(many for _, many in groups)
    if has_room(nodes, counts, few.groups):
        assert has_room(nodes, counts, groups)


@pytest.mark.proves("R23")
@given(pools(), st.sampled_from(LIMITS), st.data())
@examples(1000)
def test_one_more_group_never_makes_room(
    pool: tuple[int, tuple[int, ...], Groups], limit: int, data: st.DataObject
) -> None:
    nodes, counts, groups = pool
    spared, _ = data.draw(st.sampled_from(groups))
    fewer = tuple(each for each in ((g, n - (g == spared)) for g, n in groups) if each[1])
    if has_room(nodes, counts, rounded(nodes, counts, groups, limit).groups):
        assert has_room(nodes, counts, rounded(nodes, counts, fewer, limit).groups)


@given(pools(), st.sampled_from(LIMITS))
@examples(300)
def test_groups_are_left_alone_where_they_are_few_and_rounded_no_further_than_needed(
    pool: tuple[int, tuple[int, ...], Groups], limit: int
) -> None:
    nodes, counts, groups = pool
    groups = all_with_nodes(groups)
    few = rounded(nodes, counts, groups, limit)
    if work(counts, groups) <= limit:
        assert few.groups is groups
    assert rounded(nodes, counts, groups, work(counts, groups)).groups is groups
    assert {few.of(group) for group, _ in groups} == {group for group, _ in few.groups}


def _many(entries: int, number: int) -> tuple[tuple[int, ...], Groups]:
    """Return many groups of two members no two of which take the same, on nodes of 64 devices of each entry."""
    counts = (64,) * entries
    distinct = {
        tuple(
            sorted(
                {
                    tuple((1 + (seed * 7 + entry) % 20,) * 2 for entry in range(entries)): 1 + seed % 60,
                    tuple((21 + (seed * 11 + entry) % 20,) * 2 for entry in range(entries)): 1 + seed // 60,
                }.items()
            )
        )
        for seed in range(number)
    }
    assert len(distinct) == number
    return counts, tuple(sorted((group, 1) for group in distinct))


@pytest.mark.proves("R23")
def test_a_check_of_room_is_bounded_however_many_groups_there_are() -> None:
    for entries in (1, 2, 8):
        counts, groups = _many(entries, 600)
        pods = sum(size(group) for group, _ in groups)
        for nodes in (100, pods // 2, pods - 1):
            few = rounded(nodes, counts, groups)
            assert work(counts, few.groups) <= MOST_WORK
            assert room_states(nodes, counts, groups) <= 1 + (MOST_WORK + 2 * 600 * entries) // 2


def test_what_is_short_is_said_of_a_group_that_is_there() -> None:
    counts, groups = _many(1, 600)
    found = shortage(200, counts, groups)
    assert isinstance(found, Shortage)
    assert found.free < found.needs
    assert found.needs in {size(group) for group, _ in groups}
    group = next(group for group, _ in groups if size(group) == found.needs)
    own = shortage_of(200, counts, groups, group)
    assert own is not None
    assert own.needs == size(group)
