"""What a cluster publishes of its pools is what a pass would find in the replicas themselves."""

import pytest
from hypothesis import given

from modelplane.scheduling.pools.groups import Groups
from modelplane.scheduling.room.charge import read_groups, write_groups
from property.groups import pools
from property.strategies import examples


@pytest.mark.proves("R22")
@given(pools())
@examples(300)
def test_groups_that_are_published_are_read_as_they_were(pool: tuple[int, tuple[int, ...], Groups]) -> None:
    _, counts, groups = pool
    assert read_groups(write_groups(groups, len(counts)), counts, len(counts)) == groups
