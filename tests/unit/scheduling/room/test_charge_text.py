"""The text by which a cluster publishes what is charged on a pool."""

from dataclasses import replace

import pytest

from modelplane.scheduling.pools.groups import Groups
from modelplane.scheduling.room.charge import MOST_PUBLISHED, read_charge, read_groups, write_charge, write_groups
from unit.scheduling.scene import cluster, pool

TWO_KINDS = (8, 4)
EIGHT = ((8, 8),)


FULL, HALF, SOME = ((8, 8), (0, 0)), ((4, 4), (0, 0)), ((8, 8), (0, 2))


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("", ()),
        ("2*1x8,0", ((((FULL, 1),), 2),)),
        ("1*1x4,0+3x8,0-2", ((((HALF, 1), (SOME, 3)), 1),)),
        ("1*1x4,0 1*1x8,0", ((((HALF, 1),), 1), (((FULL, 1),), 1))),
    ],
    ids=["nothing", "two alike", "a gang", "two that differ"],
)
def test_groups_are_written_as_the_field_describes_it(text: str, groups: Groups) -> None:
    assert write_groups(groups, 2) == text
    assert read_groups(text, TWO_KINDS, 2) == groups


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "1*1x8",
        "1*1x8,0,0",
        "1*1x9,0",
        "1*1x2-1,0",
        "0*1x8,0",
        "1*0x8,0",
        "1*1x8,0 ",
        "1*1x-1,0",
        "9999999999*1x8,0",
    ],
)
def test_a_text_of_another_pool_or_none_at_all_is_refused(text: str) -> None:
    assert read_groups(text, TWO_KINDS, 2) is None


def test_a_cluster_of_which_one_pool_publishes_nothing_publishes_no_charge() -> None:
    published, unpublished = replace(pool(2), charged="1*1x8"), pool(2, name="y")
    assert read_charge(cluster("a", published)) == (((((EIGHT, 1),), 1),),)
    assert read_charge(cluster("a", published, unpublished)) is None


def test_groups_that_would_not_fit_into_a_status_are_not_published() -> None:
    many = tuple((((((0, number),), 1),), 1) for number in range(MOST_PUBLISHED // 4))
    assert write_charge((many,), (1,)) is None
    assert write_charge((many[:100],), (1,)) is not None


def test_units_that_no_pod_asks_for_are_not_written_so_that_older_charges_are_read() -> None:
    node = (8, 3840, 4096)
    none, memory = ((8, 8), (0, 0), (0, 0)), ((1, 1), (0, 0), (12, 13))
    groups = ((((memory, 2),), 1), (((none, 1),), 1))
    assert write_groups(groups, 1) == "1*2x1,0,12-13 1*1x8"
    assert read_groups("1*2x1,0,12-13 1*1x8", node, 1) == groups
    assert read_groups("1*1x8", (8, 1, 1, 1), 2) is None
