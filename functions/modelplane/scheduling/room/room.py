"""Room in a pool: whether every group of pods gets its nodes, however the cluster's scheduler arranges the others.

The rule is in docs/scheduling.md, "Room". A pool has `nodes` nodes with `counts[i]` devices of entry i each. A group is
the claiming pods of one engine of one replica, which run on distinct nodes. The weight unit of an entry is the least
sum that other pods can take of it on a node so that a pod no longer fits. The nodes that the others can block follow
from their pods' weights. All arithmetic is exact, in integers over a common denominator.

Where groups are too many to compare each with every other, they are rounded up to a few classes (see `rounding`).

Nodes that can be full of pods by number are left out first (see `PodSlots`); the above applies to the other nodes.

One reading extends the rule. A request that matches several entries of its class may take any part of its count from
each of them, so its pods can form every sum between what they take in any case and the most that they can take.
"""

from typing import Any, Final

from modelplane.lru import Lru, remembered
from modelplane.scheduling.pools import ANY_NODE, Demand, Group, Groups, PodSlots, join, size, weigh_groups
from modelplane.scheduling.room.blocking import PoolGroups, Shortage
from modelplane.scheduling.room.rounding import rounded

#: Bits of a number of devices in an integer that holds one for each entry; the highest one stays free.
_BITS = 16
_HALF = 1 << (_BITS - 1)
#: How many times less it takes to find out only which pods block a node alone.
_ALONE: Final = 4
#: Cached verdicts. Few pools differ, so a fleet of a thousand clusters uses far less.
_VERDICTS: Final = Lru[Any](16 * 1024 * 1024)


def room_states(nodes: int, counts: tuple[int, ...], groups: Groups) -> int:
    """Return the states that a check of room for these groups counts as, roughly its work."""
    few = rounded(nodes, counts, groups)
    rounding = len(counts) * sum([len(group) for group in few.classes])
    return 1 + (rounding + len(few.groups) * sum([len(group) for group, _ in few.groups])) // 2


def _weigh_verdict(_nodes: int, counts: tuple[int, ...], groups: Groups, *_others: object) -> int:
    return 256 + weigh_groups(len(counts), groups)


def has_room(nodes: int, counts: tuple[int, ...], groups: Groups, slots: PodSlots = ANY_NODE) -> bool:
    """Tell whether there is room for all groups: the answer of `shortage`, mostly at a fraction of its cost."""
    return measure_room(nodes, counts, groups, slots)[0]


def measure_room(nodes: int, counts: tuple[int, ...], groups: Groups, slots: PodSlots = ANY_NODE) -> tuple[bool, int]:
    """Return whether there is room for all groups, and the states that the check counts as, whatever is cached."""
    if not groups:
        return True, 1
    full = slots.most_full(groups)
    sizes = [size(group) for group, _ in groups]
    if nodes - full < max(1, *sizes):
        return False, 1
    if sum([pods * many for pods, (_, many) in zip(sizes, groups, strict=True)]) <= nodes - full:
        return True, 1
    verdict, alone = _has_room(nodes, counts, groups, full)
    states = room_states(nodes, counts, groups)
    return verdict, 1 + states // _ALONE if alone else states


@remembered(_VERDICTS, _weigh_verdict)
def _has_room(nodes: int, counts: tuple[int, ...], groups: Groups, full: int) -> tuple[bool, bool]:
    """Tell whether there is room for groups with more pods than there are nodes that are not full of pods.

    Also whether the answer follows from pods that leave no place for another one on their node.
    """
    few = rounded(nodes, counts, groups).groups
    nodes -= full
    sizes = [size(group) for group, _ in few]
    vectors = [(_most(demand), pods, at) for at, (group, _) in enumerate(few) for demand, pods in group]
    beyond = sum([(_HALF - 1 - count) << (_BITS * entry) for entry, count in enumerate(counts)])
    over = sum([_HALF << (_BITS * entry) for entry in range(len(counts))])
    for vector, _, at in vectors:
        # A pod that leaves no place for this one on its node blocks it alone.
        alone = sum(
            [pods * (few[other][1] - (other == at)) for each, pods, other in vectors if (vector + each + beyond) & over]
        )
        if nodes - alone < sizes[at]:
            return False, True
    pool = PoolGroups(nodes, counts, few)
    # The last groups take most: if any group lacks nodes, it is mostly one of them.
    return not any(pool.shortage_of(group) for group, _ in reversed(few)), False


def _most(demand: Demand) -> int:
    """Return the most that a pod takes of each entry, encoded in an integer whose sums show what is too much."""
    return sum([most << (_BITS * entry) for entry, (_, most) in enumerate(demand)])


def shortage(nodes: int, counts: tuple[int, ...], groups: Groups, slots: PodSlots = ANY_NODE) -> Shortage | None:
    """Return a group that the others could strand, None when there is room for all groups."""
    if not groups:
        return None
    full = slots.most_full(groups)
    if full >= nodes:
        return Shortage(max(1, size(groups[-1][0])), 0)
    if sum([size(group) * many for group, many in groups]) <= nodes - full:
        return None
    return _shortage(nodes, counts, groups, full)


@remembered(_VERDICTS, _weigh_verdict)
def _shortage(nodes: int, counts: tuple[int, ...], groups: Groups, full: int) -> Shortage | None:
    few = rounded(nodes, counts, groups)
    pool = PoolGroups(nodes - full, counts, few.groups)
    short = {group: found for group, _ in few.groups if (found := pool.shortage_of(group))}
    return next((_of(group, short[few.of(group)]) for group, _ in groups if few.of(group) in short), None)


def _of(group: Group, short: Shortage) -> Shortage:
    """Return the shortage of a group from that of its class, which may need more nodes than the group."""
    needs = size(group)
    return Shortage(needs, min(short.free, needs - 1))


def shortage_of(
    nodes: int, counts: tuple[int, ...], groups: Groups, group: Group, slots: PodSlots = ANY_NODE
) -> Shortage | None:
    """Return whether the others of `groups` could strand `group`, which is one of them."""
    free = nodes - slots.most_full(groups)
    if free < 1 or not size(group):
        return Shortage(max(1, size(group)), 0) if free < 1 else None
    few = rounded(nodes, counts, groups)
    short = PoolGroups(free, counts, few.groups).shortage_of(few.of(group))
    return _of(group, short) if short else None


@remembered(_VERDICTS, _weigh_verdict)
def more(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group, slots: PodSlots = ANY_NODE) -> int:
    """Return how many more groups like this one a pool takes: by binary search, because room only shrinks."""

    def fit(times: int) -> bool:
        return has_room(nodes, counts, join(groups, group, times), slots)

    if not group or not fit(1):
        return 0
    fits, fails = 1, 2
    while fit(fails):
        fits, fails = fails, fails * 2
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if fit(middle):
            fits = middle
        else:
            fails = middle
    return fits


def blocked(nodes: int, counts: tuple[int, ...], others: Groups, demand: Demand, slots: PodSlots = ANY_NODE) -> int:
    """Return how many nodes the pods of `others` could block for a pod of `demand`."""
    full = min(nodes, slots.most_full((*others, (((demand, 1),), 1))))
    return full + PoolGroups(nodes - full, counts, rounded(nodes, counts, others).groups).blocked_for(demand)
