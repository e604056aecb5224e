"""Whether CPU or memory is what a pool lacks for an engine whose devices it has, and how much of it is free."""

from collections.abc import Iterator

from modelplane.scheduling.groups import Demand, Group, Groups, LackedUnits, Stock, join
from modelplane.scheduling.hardware import Sizes
from modelplane.scheduling.node_resources import KINDS
from modelplane.scheduling.room import has_room
from modelplane.scheduling.ways import PoolOption


def find_lacked(sizes: Sizes, stock: Stock, placed: PoolOption) -> LackedUnits | None:
    """Return the kind for want of which an option has no room beside the stock, None where devices are short too."""
    (nodes, counts), groups = sizes.pools[placed.position], stock[placed.position]
    asked = list(_asked(placed.option.group, sizes.devices[placed.position]))
    modest = placed.option.group
    # Of two kinds that are short the last is named, with what is free of it beside none of the other.
    for kind, entry, needs in asked:
        without = _with_most(modest, entry, 0)
        if has_room(nodes, counts, join(groups, without)):
            return LackedUnits(kind, needs, _most_free(nodes, counts, groups, modest, entry))
        modest = without
    return None


def _asked(group: Group, devices: int) -> Iterator[tuple[int, int, int]]:
    """Yield (kind, entry, most units of a pod) of what a group asks for, behind so many entries of devices."""
    for kind in range(len(KINDS)):
        entry = devices + kind
        most = max((demand[entry][1] for demand, _ in group if len(demand) > entry), default=0)
        if most:
            yield kind, entry, most


def _most_free(nodes: int, counts: tuple[int, ...], groups: Groups, group: Group, entry: int) -> int:
    """Return the most of an entry that each pod of a group could take, where there is room for it with none."""
    fits, fails = 0, counts[entry] + 1
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if has_room(nodes, counts, join(groups, _with_most(group, entry, middle))):
            fits = middle
        else:
            fails = middle
    return fits


def _with_most(group: Group, entry: int, most: int) -> Group:
    """Return the group with no more than `most` of an entry taken by each pod."""
    pods: dict[Demand, int] = {}
    for demand, many in group:
        low, high = demand[entry]
        less = (*demand[:entry], (min(low, most), min(high, most)), *demand[entry + 1 :])
        pods[less] = pods.get(less, 0) + many
    return tuple(sorted((demand, many) for demand, many in pods.items() if any(high for _, high in demand)))
