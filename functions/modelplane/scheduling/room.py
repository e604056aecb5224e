"""Room in a pool: whether every group of pods gets its nodes however the cluster's own scheduler arranged the others.

The rule is stated in docs/scheduling.md ("Room"). A pool has `nodes` nodes with `counts[i]` devices of entry i each.
A group is the claiming pods of one engine of one replica, which sit on distinct nodes. The least sum of an entry that
other pods can take on a node so that a pod no longer fits is that entry's weight unit; the nodes that the others can
block are counted from their pods' weights. All arithmetic is exact, in integers over a common denominator.

One reading goes beyond the rule's letter. A request that matches several entries of its class may take any part of
its count from each of them, so its pods can form every sum between what they surely take and the most they can take.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import lcm

#: What one pod takes of each entry: (surely, at most). Never more than a node has.
Demand = tuple[tuple[int, int], ...]
#: The pods of one engine of one replica: (demand, how many), sorted.
Group = tuple[tuple[Demand, int], ...]
#: The groups of a pool: (group, how many alike), sorted.
Groups = tuple[tuple[Group, int], ...]

#: Verdicts kept: few pools differ, so this is far more than a fleet of a thousand clusters uses.
CACHE_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group that could be left without nodes: nodes it needs, nodes that are surely free for it."""

    needs: int
    free: int


def size(group: Group) -> int:
    """Return the number of pods of a group, each of which needs a node of its own."""
    return sum(pods for _, pods in group)


@lru_cache(maxsize=CACHE_SIZE)
def join(groups: Groups, group: Group, times: int = 1) -> Groups:
    """Return the groups with `times` more (negative: fewer) of `group`; a group without charge changes nothing."""
    if not group:
        return groups
    counted = dict(groups)
    counted[group] = counted.get(group, 0) + times
    return tuple(sorted((each, many) for each, many in counted.items() if many > 0))


@lru_cache(maxsize=CACHE_SIZE)
def shortage(nodes: int, counts: tuple[int, ...], groups: Groups) -> Shortage | None:
    """Return a group that the others could strand, None when there is room for all groups."""
    if sum(size(group) * many for group, many in groups) <= nodes:
        return None
    for group, _ in groups:
        found = shortage_of(nodes, counts, groups, group)
        if found:
            return found
    return None


def shortage_of(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group) -> Shortage | None:
    """Return whether the others of `groups` could strand `group`, which is one of them."""
    needs, others = size(group), join(groups, group, -1)
    free = min((nodes - blocked(nodes, counts, others, demand) for demand, _ in group), default=nodes)
    return Shortage(needs, free) if free < needs else None


@lru_cache(maxsize=CACHE_SIZE)
def more(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group) -> int:
    """Return how many more alike groups a pool takes; adding one never makes room, so this is a binary search."""
    if not group or shortage(nodes, counts, join(groups, group)):
        return 0
    fits, fails = 1, 2
    while not shortage(nodes, counts, join(groups, group, fails)):
        fits, fails = fails, fails * 2
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if shortage(nodes, counts, join(groups, group, middle)):
            fails = middle
        else:
            fits = middle
    return fits


def blocked(nodes: int, counts: tuple[int, ...], others: Groups, demand: Demand) -> int:
    """Return how many nodes the pods of `others` could block for a pod of `demand`."""
    units = [
        _least_blocking(counts[entry], most, _spans(others, entry)) if most else None
        for entry, (_, most) in enumerate(demand)
    ]
    scale = lcm(*(unit for unit in units if unit))
    weighed = [(_weights(group, units, scale), many) for group, many in others]
    return min(nodes, _most_blocked(weighed, scale))


def _spans(others: Groups, entry: int) -> Iterator[tuple[set[tuple[int, int]], int]]:
    """Yield what a pod of each group may take of an entry, and how many such groups there are."""
    for group, many in others:
        spans = {demand[entry] for demand, _ in group if demand[entry][1]}
        if spans:
            yield spans, many


def _least_blocking(count: int, demand: int, groups: Iterator[tuple[set[tuple[int, int]], int]]) -> int | None:
    """Return the least sum that leaves fewer than `demand` of `count`, one pod of a group at most; None: no sum does.

    Sums are bits of an integer: bit s says that s devices can be taken on one node.
    """
    sums, within = 1, (1 << (count + 1)) - 1
    for spans, many in groups:
        for _ in range(many):
            grown = sums
            for least, most in spans:
                for part in range(max(least, 1), most + 1):
                    grown |= sums << part
            grown &= within
            if grown == sums:
                break
            sums = grown
    enough = max(1, count - demand + 1)
    blocking = sums >> enough
    return enough + (blocking & -blocking).bit_length() - 1 if blocking else None


def _weights(group: Group, units: list[int | None], scale: int) -> list[tuple[int, int]]:
    """Return (weight, pods) of a group, heaviest first; a weight of `scale` blocks a node alone."""
    weighed = []
    for demand, pods in group:
        shares = [taken * (scale // unit) for (_, taken), unit in zip(demand, units, strict=True) if unit]
        weighed.append((min(scale, max(shares, default=0)), pods))
    return sorted(weighed, reverse=True)


def _most_blocked(weighed: list[tuple[list[tuple[int, int]], int]], scale: int) -> int:
    """Return the largest b for which the b heaviest weights of each group add up to b nodes or more.

    The sum over b is concave, so its surplus over b nodes rises and then falls for good: walk its straight pieces.
    """
    bends: dict[int, int] = {0: 0}
    for weights, many in weighed:
        at = 0
        for weight, pods in weights:
            bends[at] = bends.get(at, 0) + weight * many
            at += pods
            bends[at] = bends.get(at, 0) - weight * many
    surplus = slope = at = 0
    for place in sorted(bends):
        loss = scale - slope
        if loss > 0 and surplus < loss * (place - at):
            return at + surplus // loss
        surplus -= loss * (place - at)
        slope += bends[place]
        at = place
    return at + surplus // scale
