"""Room in a pool: whether every group of pods gets its nodes however the cluster's own scheduler arranged the others.

The rule is stated in docs/scheduling.md ("Room"). A pool has `nodes` nodes with `counts[i]` devices of entry i each.
A group is the claiming pods of one engine of one replica, which sit on distinct nodes. The least sum of an entry that
other pods can take on a node so that a pod no longer fits is that entry's weight unit; the nodes that the others can
block are counted from their pods' weights. All arithmetic is exact, in integers over a common denominator.

Where groups are too many to compare each with every other they are rounded up to few classes (see `rounding`).

One reading goes beyond the rule's letter. A request that matches several entries of its class may take any part of
its count from each of them, so its pods can form every sum between what they surely take and the most they can take.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import lcm
from typing import Any, Final

from modelplane.lru import Lru, remembered
from modelplane.scheduling.groups import Demand, Group, Groups, join, size, weigh_groups
from modelplane.scheduling.rounding import rounded

#: What pods of a group may take of an entry: (least, most) of each demand, sorted.
_Spans = tuple[tuple[int, int], ...]
#: The weight unit of each entry, None for one that cannot block.
_Units = tuple[int | None, ...]

#: Bits of a number of devices in an integer that holds one for each entry; the highest one stays free.
_BITS = 16
_HALF = 1 << (_BITS - 1)
#: Verdicts: few pools differ, so this is far more than a fleet of a thousand clusters uses.
_VERDICTS: Final = Lru[Any](16 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group that could be left without nodes: nodes it needs, nodes that are surely free for it."""

    needs: int
    free: int


def room_states(nodes: int, counts: tuple[int, ...], groups: Groups) -> int:
    """Return what a check of the room for these groups counts among the states of a search: its work, roughly."""
    few = rounded(nodes, counts, groups)
    rounding = len(counts) * sum([len(group) for group in few.classes])
    return 1 + (rounding + len(few.groups) * sum([len(group) for group, _ in few.groups])) // 4


def _weigh_verdict(_nodes: int, counts: tuple[int, ...], groups: Groups, *_others: Group) -> int:
    return 256 + weigh_groups(len(counts), groups)


def has_room(nodes: int, counts: tuple[int, ...], groups: Groups) -> bool:
    """Tell whether there is room for all groups: what `shortage` says, mostly for a fraction of its work."""
    if not groups:
        return True
    sizes = [size(group) for group, _ in groups]
    if nodes < max(sizes):
        return False
    if sum([pods * many for pods, (_, many) in zip(sizes, groups, strict=True)]) <= nodes:
        return True
    return _has_room(nodes, counts, groups)


@remembered(_VERDICTS, _weigh_verdict)
def _has_room(nodes: int, counts: tuple[int, ...], groups: Groups) -> bool:
    """Tell whether there is room for groups that have more pods than there are nodes."""
    few = rounded(nodes, counts, groups).groups
    sizes = [size(group) for group, _ in few]
    vectors = [(_most(demand), pods, at) for at, (group, _) in enumerate(few) for demand, pods in group]
    beyond = sum([(_HALF - 1 - count) << (_BITS * entry) for entry, count in enumerate(counts)])
    over = sum([_HALF << (_BITS * entry) for entry in range(len(counts))])
    for vector, _, at in vectors:
        # A pod beside which this one has no place on a node blocks it alone.
        alone = sum(
            [pods * (few[other][1] - (other == at)) for each, pods, other in vectors if (vector + each + beyond) & over]
        )
        if nodes - alone < sizes[at]:
            return False
    pool = _Pool(nodes, counts, few)
    # The last groups are those that take most: where any lacks nodes, one of them does so mostly.
    return not any(pool.shortage_of(group) for group, _ in reversed(few))


def _most(demand: Demand) -> int:
    """Return the most that a pod takes of each entry, in an integer: added to another it shows what is too much."""
    return sum([most << (_BITS * entry) for entry, (_, most) in enumerate(demand)])


def shortage(nodes: int, counts: tuple[int, ...], groups: Groups) -> Shortage | None:
    """Return a group that the others could strand, None when there is room for all groups."""
    if sum([size(group) * many for group, many in groups]) <= nodes:
        return None
    return _shortage(nodes, counts, groups)


@remembered(_VERDICTS, _weigh_verdict)
def _shortage(nodes: int, counts: tuple[int, ...], groups: Groups) -> Shortage | None:
    few = rounded(nodes, counts, groups)
    pool = _Pool(nodes, counts, few.groups)
    short = {group: found for group, _ in few.groups if (found := pool.shortage_of(group))}
    return next((_of(group, short[few.of(group)]) for group, _ in groups if few.of(group) in short), None)


def _of(group: Group, short: Shortage) -> Shortage:
    """Return what is short for a group where it is short for its class, which may need more nodes than the group."""
    needs = size(group)
    return Shortage(needs, min(short.free, needs - 1))


def shortage_of(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group) -> Shortage | None:
    """Return whether the others of `groups` could strand `group`, which is one of them."""
    few = rounded(nodes, counts, groups)
    short = _Pool(nodes, counts, few.groups).shortage_of(few.of(group))
    return _of(group, short) if short else None


@remembered(_VERDICTS, _weigh_verdict)
def more(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group) -> int:
    """Return how many more alike groups a pool takes; adding one never makes room, so this is a binary search."""
    if not group or not has_room(nodes, counts, join(groups, group)):
        return 0
    fits, fails = 1, 2
    while has_room(nodes, counts, join(groups, group, fails)):
        fits, fails = fails, fails * 2
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if has_room(nodes, counts, join(groups, group, middle)):
            fits = middle
        else:
            fails = middle
    return fits


def blocked(nodes: int, counts: tuple[int, ...], others: Groups, demand: Demand) -> int:
    """Return how many nodes the pods of `others` could block for a pod of `demand`."""
    return Blocking(nodes, counts, others).blocked(demand)


class Blocking:
    """How many nodes the groups of a pool could block for a pod of another, asked for one demand after another."""

    def __init__(self, nodes: int, counts: tuple[int, ...], groups: Groups) -> None:
        self._pool = _Pool(nodes, counts, rounded(nodes, counts, groups).groups)
        #: By what the pods weigh against a demand, in which few demands differ.
        self._found: dict[_Weights, int] = {}

    def blocked(self, demand: Demand) -> int:
        """Return how many nodes the groups could block for a pod of `demand`."""
        weights = self._pool.weights(demand, ())
        found = self._found.get(weights)
        if found is None:
            found = self._found[weights] = self._pool.blocked(weights, ())
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """What the pods of each group weigh, heaviest first as (weight, pods); a weight of `scale` blocks a node alone."""

    scale: int
    of: dict[Group, list[tuple[int, int]]]
    totals: dict[Group, int]
    total: int


class _Pool:
    """The groups of a pool, asked about one after another; what one answer has worked out serves the next."""

    def __init__(self, nodes: int, counts: tuple[int, ...], groups: Groups) -> None:
        self._nodes = nodes
        self._counts = counts
        self._groups = groups
        self._spans = {group: _spans(group, len(counts)) for group, _ in groups}
        self._sums: dict[tuple[int, _Spans], int] = {}
        self._weights: dict[_Units, _Weights] = {}

    def shortage_of(self, group: Group) -> Shortage | None:
        """Return what is short for one of the groups."""
        needs = free = size(group)
        for demand, _ in group:
            weights = self.weights(demand, group)
            # No more nodes can be blocked than all weights together come to, which is mostly enough to know.
            if self._nodes - (weights.total - weights.totals[group]) // weights.scale < needs:
                free = min(free, self._nodes - self.blocked(weights, group))
        return Shortage(needs, free) if free < needs else None

    def blocked(self, weights: _Weights, own: Group) -> int:
        """Return how many nodes all groups could block with these weights, but for one group `own`."""
        others = ((weights.of[group], many - (group == own)) for group, many in self._groups)
        return min(self._nodes, _most_blocked(others, weights.scale))

    def weights(self, demand: Demand, own: Group) -> _Weights:
        """Return what pods weigh against a pod of this demand, which is of the group `own`."""
        spans = self._spans.get(own, ((),) * len(self._counts))
        units = tuple(
            [
                self._least_blocking(entry, most, spans[entry]) if most else None
                for entry, (_, most) in enumerate(demand)
            ]
        )
        found = self._weights.get(units)
        if found is None:
            scale = lcm(*[unit for unit in units if unit])
            of = {group: _weigh(group, units, scale) for group, _ in self._groups}
            totals = {group: sum([weight * pods for weight, pods in each]) for group, each in of.items()}
            total = sum([totals[group] * many for group, many in self._groups])
            found = self._weights[units] = _Weights(scale, of, totals, total)
        return found

    def _least_blocking(self, entry: int, demand: int, own: _Spans) -> int | None:
        """Return the least sum that leaves too few of an entry, one pod of each other group at most; None: no sum."""
        sums = self._sums.get((entry, own))
        if sums is None:
            sums = self._sums[entry, own] = self._sums_without(entry, own)
        count = self._counts[entry]
        enough = max(1, count - demand + 1)
        blocking = sums >> enough
        return enough + (blocking & -blocking).bit_length() - 1 if blocking else None

    def _sums_without(self, entry: int, own: _Spans) -> int:
        """Return, as bits, the sums of an entry that pods of groups but one with the spans `own` can take on a node."""
        alike: dict[_Spans, int] = {}
        for group, many in self._groups:
            spans = self._spans[group][entry]
            alike[spans] = alike.get(spans, 0) + many
        alike[own] = alike.get(own, 0) - 1
        sums, within = 1, (2 << self._counts[entry]) - 1
        for spans, many in alike.items():
            for _ in range(many if spans else 0):
                grown = sums
                for least, most in spans:
                    grown |= _spread(sums, max(least, 1), most)
                grown &= within
                if grown == sums:
                    break
                sums = grown
        return sums


def _spans(group: Group, entries: int) -> tuple[_Spans, ...]:
    return tuple(
        [tuple(sorted({demand[entry] for demand, _ in group if demand[entry][1]})) for entry in range(entries)]
    )


def _spread(sums: int, least: int, most: int) -> int:
    """Return the sums with every number from `least` to `most` added to each."""
    found, width = sums << least, 1
    while width <= most - least:
        step = min(width, most - least + 1 - width)
        found |= found << step
        width += step
    return found


def _weigh(group: Group, units: _Units, scale: int) -> list[tuple[int, int]]:
    """Return (weight, pods) of a group, heaviest first."""
    weighed = []
    for demand, pods in group:
        shares = [taken * (scale // unit) for (_, taken), unit in zip(demand, units, strict=True) if unit]
        weighed.append((min(scale, max(shares, default=0)), pods))
    return sorted(weighed, reverse=True)


def _most_blocked(weighed: Iterable[tuple[list[tuple[int, int]], int]], scale: int) -> int:
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
