"""Rounds the groups of a pool up to a few classes where there are too many to compare each with every other.

Rounding is conservative: a rounded group has at least as many pods, and each pod's range (surely, at most) of an entry
contains the given one. So if the rounded groups have room, the given groups have it. Adding a group never makes room: a
class depends on the group and the pool alone, and more groups are never rounded less.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.lru import Lru, remembered
from modelplane.scheduling.pools import Demand, Group, Groups, all_with_nodes, size, weigh_groups, with_nodes

#: Most comparisons of a pod's demand of one entry with a group; above it a check of room is rounded. That is 90 groups
#: of one demand each on nodes with one entry.
MOST_WORK = 8192

#: Cached results: a pool is checked again and again with the same groups.
_ROUNDED: Final = Lru[Any](4 * 1024 * 1024)

#: What one pod takes of an entry (surely, at most), and how many the node has.
_Widen = Callable[[tuple[int, int], int], tuple[int, int]]


def _above(number: int, digits: int) -> int:
    """Return the number rounded up to so many significant binary digits."""
    step = 1 << max(0, number.bit_length() - digits)
    return -(-number // step) * step


def _below(number: int, digits: int) -> int:
    """Return the number rounded down to so many significant binary digits."""
    return number >> (dropped := max(0, number.bit_length() - digits)) << dropped


def _to_digits(digits: int) -> _Widen:
    return lambda taken, count: (_below(taken[0], digits), min(count, _above(taken[1], digits)))


def _to_halves(taken: tuple[int, int], count: int) -> tuple[int, int]:
    half = (count + 1) // 2
    return 0, 0 if not taken[1] else half if taken[1] <= half else count


def _to_node(_taken: tuple[int, int], count: int) -> tuple[int, int]:
    return 0, count


def _widened(group: Group, counts: tuple[int, ...], widen: _Widen) -> Group:
    """Return the group with each demand widened."""
    pods: dict[Demand, int] = {}
    for demand, many in group:
        wide = tuple([widen(taken, count) for taken, count in zip(demand, counts, strict=True)])
        pods[wide] = pods.get(wide, 0) + many
    return tuple(sorted(pods.items()))


def _enlarged(group: Group, nodes: int, digits: int) -> Group:
    """Return the group with rounded-up numbers of pods, or unchanged where these would exceed the nodes."""
    larger = tuple([(demand, _above(pods, digits)) for demand, pods in group])
    return larger if size(larger) <= nodes else group


def _merged(group: Group) -> Group:
    """Return the group with one demand that covers all of its demands."""
    entries = list(zip(*[demand for demand, _ in group], strict=True))
    demand = tuple([(min(least for least, _ in entry), max(most for _, most in entry)) for entry in entries])
    return ((demand, size(group)),)


def are_few(groups: int, demands: int, entries: int) -> bool:
    """Tell whether groups are few enough to be compared exactly."""
    return groups * demands * entries <= MOST_WORK


def work(counts: tuple[int, ...], groups: Groups) -> int:
    """Return roughly how many comparisons a check of room for these groups takes."""
    return len(groups) * sum([len(group) for group, _ in groups]) * len(counts)


@dataclass(frozen=True, slots=True)
class Rounded:
    """The groups to compare, and the class of each given group; no classes where the groups are not rounded.

    Pods that need no node of their own are left out.
    """

    groups: Groups
    classes: Mapping[Group, Group] = field(default_factory=dict)

    def of(self, group: Group) -> Group:
        """Return the class of a group."""
        compared = with_nodes(group)
        return self.classes.get(compared, compared)


def rounded(nodes: int, counts: tuple[int, ...], groups: Groups, most: int | None = None) -> Rounded:
    """Return the groups where a check takes at most `most` work (MOST_WORK), else each rounded up until it does.

    On the last level every pod takes a whole node, so that groups differ only in the power of two of their pods. They
    are few, whatever `most` is.
    """
    limit = MOST_WORK if most is None else most
    groups = all_with_nodes(groups)
    return Rounded(groups) if work(counts, groups) <= limit else _rounded(nodes, counts, groups, limit)


#: One level of rounding a group on a pool of so many nodes with these devices; each level rounds further than the last.
_Level = Callable[[Group, int, tuple[int, ...]], Group]
_LEVELS: Final[tuple[_Level, ...]] = (
    lambda group, nodes, counts: _enlarged(_widened(group, counts, _to_digits(3)), nodes, 3),
    lambda group, nodes, counts: _enlarged(_widened(group, counts, _to_digits(2)), nodes, 1),
    lambda group, nodes, counts: _enlarged(_widened(group, counts, _to_digits(1)), nodes, 1),
    lambda group, nodes, _counts: _enlarged(_merged(group), nodes, 1),
    lambda group, _nodes, counts: _widened(group, counts, _to_halves),
    lambda group, _nodes, counts: _widened(group, counts, _to_node),
)


def _weigh(_nodes: int, counts: tuple[int, ...], groups: Groups, _most: int) -> int:
    return 512 + 3 * weigh_groups(len(counts), groups)


@remembered(_ROUNDED, _weigh)
def _rounded(nodes: int, counts: tuple[int, ...], groups: Groups, most: int) -> Rounded:
    classes = {group: group for group, _ in groups}
    few = groups
    for level in _LEVELS:
        wide = {group: level(group, nodes, counts) for group, _ in few}
        counted: dict[Group, int] = {}
        for group, many in few:
            counted[wide[group]] = counted.get(wide[group], 0) + many
        classes = {group: wide[known] for group, known in classes.items()}
        few = tuple(sorted(counted.items()))
        if work(counts, few) <= most:
            break
    return Rounded(few, classes)
