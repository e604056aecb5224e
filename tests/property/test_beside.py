"""What is known of parts of an option decides as checking each option by itself does."""

from collections.abc import Mapping
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.scheduling.matching.ways import EngineOption, PodSet
from modelplane.scheduling.pools.groups import Group, Groups, PodSlots, join, with_nodes
from modelplane.scheduling.pools.hardware import PoolSize
from modelplane.scheduling.room import room, rounding
from modelplane.scheduling.room.beside import Beside, PoolView
from modelplane.scheduling.room.room import has_room
from modelplane.scheduling.search_budget import Meter
from property.groups import groups_of, pools
from property.strategies import examples

Pool = tuple[int, tuple[int, ...], Groups]
#: Least work for which groups are rounded.
LIMITS: Final = (4, 16, 64, rounding.MOST_WORK)


def options_of(groups: list[Group]) -> list[EngineOption]:
    pod_sets = {each: PodSet(*each) for group in groups for each in with_nodes(group)}
    return [EngineOption((), group, tuple(pod_sets[each] for each in with_nodes(group))) for group in groups]


def alone(on: PoolSize, groups: Groups, options: list[EngineOption], start: int) -> int | None:
    nodes, counts, slots = on
    fits = (at for at in range(start, len(options)) if has_room(nodes, counts, join(groups, options[at].group), slots))
    return next(fits, None)


@given(pools(), st.sampled_from(LIMITS), st.data())
@examples(150)
def test_the_first_option_with_room_is_found_however_much_is_known_of_others(
    pool: Pool, limit: int, data: st.DataObject
) -> None:
    nodes, counts, groups = pool
    nodes += data.draw(st.integers(0, 6))
    slots = PodSlots(data.draw(st.sampled_from((5, 20, 100))), sum(counts))
    on = nodes, counts, slots
    drawn = data.draw(st.lists(groups_of(counts), min_size=5, max_size=12))
    single: Mapping[Group, None] = dict.fromkeys((each,) for group in drawn for each in with_nodes(group))
    options = options_of([*drawn, *single])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounding, "MOST_WORK", limit)
        patch.setattr(room._VERDICTS, "limit", 0)
        left = Beside(PoolView(*on, Meter(), lambda of: has_room(nodes, counts, of, slots)), groups)
        for _ in range(4):
            start = 0
            while (found := left.first(options, start)) is not None:
                assert found == alone(on, groups, options, start)
                start = found + 1
            assert alone(on, groups, options, start) is None
            groups = join(groups, data.draw(st.sampled_from(options)).group)
            left = left.with_more(groups)
