"""Whether the pods of a pool can be arranged so that one finds no node, counted in devices, CPU and memory as asked.

Rule: pods of one group sit on distinct nodes, and a node takes pods as long as no kind of what they ask for adds up to
more than it has. Nothing is rounded: amounts are compared as they are, one arrangement after the other.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

#: What a pod asks for, or a node has, of each kind.
Amounts = tuple[int, ...]
#: What each pod of a group asks for.
Pods = tuple[Amounts, ...]


def _within(pods: Sequence[Amounts], node: Amounts) -> bool:
    return all(sum(kind) <= has for kind, has in zip(zip(*pods, strict=True), node, strict=True))


def _blocking(
    node: Amounts, others: Sequence[tuple[int, Amounts]], own: int, pod: Amounts
) -> Iterator[tuple[int, ...]]:
    """Yield the smallest sets of other pods, by position, that keep a pod of the group `own` off a node."""
    found: list[set[int]] = []
    for number in range(1, len(others) + 1):
        for chosen in combinations(range(len(others)), number):
            groups = [others[at][0] for at in chosen]
            there = [others[at][1] for at in chosen]
            if len({*groups}) < number or any(known <= {*chosen} for known in found) or not _within(there, node):
                continue
            if own in groups or not _within([*there, pod], node):
                found.append({*chosen})
                yield chosen


def can_be_stranded(nodes: int, node: Amounts, groups: Sequence[Pods]) -> bool:
    """Tell whether some arrangement of the other pods leaves a pod of some group without a node."""
    for own, group in enumerate(groups):
        for at, pod in enumerate(group):
            others = [(g, each) for g, pods in enumerate(groups) for i, each in enumerate(pods) if (g, i) != (own, at)]
            if not _within([pod], node) or _all_blocked(nodes, list(_blocking(node, others, own, pod))):
                return True
    return False


def _all_blocked(nodes: int, sets: Sequence[tuple[int, ...]]) -> bool:
    """Tell whether so many of the sets have no pod in common."""

    @cache
    def block(left: int, first: int, used: int) -> bool:
        if left == 0:
            return True
        masks = ((at, sum(1 << pod for pod in sets[at])) for at in range(first, len(sets)))
        return any(not mask & used and block(left - 1, at + 1, used | mask) for at, mask in masks)

    return block(nodes, 0, 0)
