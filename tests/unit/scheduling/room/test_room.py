"""The rule of room, on pools that are small enough to be worked out by hand."""

from dataclasses import dataclass

import pytest

from modelplane.model.refusal import NoRoom
from modelplane.scheduling.pools.groups import Demand, Group, Groups, join, size
from modelplane.scheduling.room import rounding
from modelplane.scheduling.room.blocking import PoolGroups, Shortage
from modelplane.scheduling.room.room import blocked, has_room, measure_room, more, room_states, shortage
from unit.scheduling.scene import Scene, cluster, deployment, pool, replica, stamped


def takes(*devices: int) -> Demand:
    """Return the demand of a pod that surely takes so many of each entry."""
    return tuple((count, count) for count in devices)


def pods(demand: Demand, count: int = 1) -> Group:
    return ((demand, count),)


def pool_of(*groups: Group) -> Groups:
    found: Groups = ()
    for group in groups:
        found = join(found, group)
    return found


ONE, TWO, THREE, FOUR, SIX, EIGHT = (takes(count) for count in (1, 2, 3, 4, 6, 8))


@dataclass(frozen=True)
class Pool:
    """Nodes of `counts` devices each with groups: whether all of them fit or one is short."""

    rule: str
    nodes: int
    counts: tuple[int, ...]
    groups: tuple[Group, ...]
    then: str


CASES = [
    Pool("whole nodes are counted", 2, (8,), (pods(EIGHT), pods(EIGHT)), "fits"),
    Pool("and no more than there are", 2, (8,), (pods(EIGHT),) * 3, "short"),
    Pool("a gang takes a node a pod", 2, (8,), (pods(EIGHT, 3),), "short"),
    Pool("alike pods share a node to the last device", 1, (8,), (pods(ONE),) * 8, "fits"),
    Pool("and the ninth does not fit", 1, (8,), (pods(ONE),) * 9, "short"),
    Pool("halves fill two nodes", 2, (8,), (pods(FOUR),) * 4, "fits"),
    Pool(
        "two halves can block two of three nodes, one is left", 3, (8,), (pods(FOUR), pods(FOUR), pods(EIGHT)), "fits"
    ),
    Pool("not two", 3, (8,), (pods(FOUR), pods(FOUR), pods(EIGHT), pods(EIGHT)), "short"),
    Pool("a newcomer that fits may strand another", 2, (8,), (pods(EIGHT), pods(ONE), pods(ONE)), "short"),
    Pool("copies of one group never share a node", 1, (8,), (pods(ONE, 2),), "short"),
    Pool("copies of two groups do", 2, (2,), (pods(ONE, 2), pods(ONE, 2)), "fits"),
    Pool("6 of 8 leave room for 2", 1, (8,), (pods(SIX), pods(TWO)), "fits"),
    Pool("not for 3", 1, (8,), (pods(SIX), pods(THREE)), "short"),
    Pool("one scarce entry is enough to block", 1, (8, 1), (pods(takes(1, 1)), pods(takes(1, 1))), "short"),
    Pool("entries that are not shared do not", 1, (8, 1), (pods(takes(1, 1)), pods(takes(1, 0))), "fits"),
    Pool("two that both want the scarce one take two nodes", 2, (8, 1), (pods(takes(1, 1)),) * 2, "fits"),
    Pool("no pods need no nodes", 0, (8,), (), "fits"),
    Pool("a pool without nodes has none", 0, (8,), (pods(ONE),), "short"),
]


@pytest.mark.proves("R29")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_there_is_room_exactly_where_no_arrangement_of_the_others_strands_a_group(case: Pool) -> None:
    assert (shortage(case.nodes, case.counts, pool_of(*case.groups)) is None) is (case.then == "fits")


ALIKE = tuple(pods(THREE, 5 + at) for at in range(20))


@pytest.mark.parametrize(
    ("nodes", "groups", "room", "share"),
    [
        (400, ALIKE, True, 0.1),  # fewer pods than nodes
        (5, ALIKE, False, 0.1),  # fewer nodes than pods of a group
        (100, (*ALIKE[:-1], pods(EIGHT, 5)), False, 0.3),  # the other pods each block a node for the largest
        (200, (*ALIKE[:-1], pods(FOUR, 2)), True, 1.0),  # all weights have to be added up
    ],
)
def test_a_check_of_room_counts_as_many_states_as_it_takes_work(
    nodes: int, groups: tuple[Group, ...], room: bool, share: float
) -> None:
    found, states = measure_room(nodes, (8,), pool_of(*groups))
    assert found is room
    assert states <= share * room_states(nodes, (8,), pool_of(*groups))


def test_the_least_blocking_sum_is_one_that_pods_of_different_groups_can_form() -> None:
    # 3 + 3 leaves 2 of 8, which is enough for 2: only all three pods of 3 together would block, and they do not fit.
    assert blocked(3, (8,), pool_of(pods(THREE), pods(THREE), pods(THREE)), TWO) == 0
    # For 3 it is not: two of the three pods block one node, the third has no partner left.
    assert blocked(3, (8,), pool_of(pods(THREE), pods(THREE), pods(THREE)), THREE) == 1
    # Pods of one group stand on distinct nodes, so they never form that sum.
    assert blocked(3, (8,), pool_of(pods(THREE, 3)), THREE) == 0


def test_only_the_heaviest_pods_of_a_group_count_one_a_node() -> None:
    mixed: Group = tuple(sorted(((EIGHT, 1), (TWO, 4))))
    assert blocked(9, (8,), pool_of(mixed), EIGHT) == 5
    assert blocked(9, (8,), pool_of(mixed), ONE) == 1


def test_what_can_be_split_over_entries_forms_every_smaller_sum() -> None:
    split = (((0, 2), (0, 2)), 1)
    # Two pods that may take any 2 of {3 big, 3 small} can take 2 + 1 of the big ones, and none is left for a third.
    assert blocked(1, (3, 3), pool_of((split,), (split,)), ((1, 1), (0, 0))) == 1
    whole = pods(takes(2, 0))
    assert blocked(1, (3, 3), pool_of(whole, whole), ((1, 1), (0, 0))) == 0


def test_a_shortage_names_the_nodes_needed_and_surely_free() -> None:
    assert shortage(4, (8,), pool_of(pods(EIGHT, 3), pods(EIGHT, 2))) == Shortage(needs=2, free=1)


@pytest.mark.parametrize(
    ("nodes", "present", "group", "times"),
    [
        (4, (), pods(EIGHT), 4),
        (4, (pods(EIGHT),), pods(EIGHT), 3),
        (4, (), pods(ONE), 32),
        (4, (), pods(EIGHT, 2), 2),
        (4, (pods(EIGHT, 4),), pods(ONE), 0),
        (1000, (), pods(ONE), 8000),
    ],
)
def test_how_many_more_fit_is_the_largest_number_that_does(
    nodes: int, present: tuple[Group, ...], group: Group, times: int
) -> None:
    groups = pool_of(*present)
    assert more(nodes, (8,), groups, group) == times
    assert shortage(nodes, (8,), join(groups, group, times)) is None
    assert shortage(nodes, (8,), join(groups, group, times + 1)) is not None


def test_joining_keeps_groups_sorted_and_counted_and_taking_away_undoes_it() -> None:
    groups = pool_of(pods(EIGHT), pods(ONE), pods(EIGHT))
    assert groups == ((pods(ONE), 1), (pods(EIGHT), 2))
    assert join(join(groups, pods(TWO)), pods(TWO), -1) == groups
    assert join(groups, ()) == groups
    assert size(tuple(sorted(((EIGHT, 1), (TWO, 4))))) == 5


def test_however_many_groups_differ_a_cluster_is_placed_on_while_it_has_room_and_is_never_searchbound() -> None:
    others = [replica(None, f"a/{at}", stamped(count=1 + at % 7, copies=1 + at // 7)) for at in range(420)]
    pods = sum(1 + at // 7 for at in range(420))
    for nodes, unplaced in ((pods + 1, 0), (60, 1)):
        decided = Scene([cluster("a", pool(nodes))], others).decide(deployment())
        assert decided.unplaced == unplaced
        assert all(isinstance(refusal, NoRoom) for refusal in decided.refusals.values())


@pytest.mark.parametrize(("pods", "stranded"), [(1, False), (2, True)])
def test_one_more_group_strands_one_that_needs_a_node_for_itself_when_it_takes_the_last(
    pods: int, stranded: bool
) -> None:
    whole: Group = ((((8, 8),), 1),)
    there = PoolGroups(2, (8,), ((whole, 1),))
    assert there.strands(((((8, 8),), pods),)) is stranded


def test_a_pool_has_room_for_nothing_whatever_it_has() -> None:
    assert (has_room(0, (8,), ()), shortage(0, (8,), ())) == (True, None)


@pytest.mark.parametrize(
    ("taken", "count", "at_most"), [(0, 8, 0), (1, 8, 4), (4, 8, 4), (5, 8, 8), (4, 7, 4), (5, 7, 7)]
)
def test_a_pod_that_is_rounded_to_halves_of_a_node_takes_no_more_than_the_half_that_it_fits_into(
    taken: int, count: int, at_most: int
) -> None:
    assert rounding._to_halves((taken, taken), count) == (0, at_most)
