"""Whether a pool lacks CPU, memory or pod slots for an engine whose devices it has, and how much is free."""

from collections.abc import Callable, Iterator
from functools import partial

from modelplane.scheduling.matching import EngineOption, PoolOption
from modelplane.scheduling.pools import KINDS, PODS, Charge, Demand, Group, LackedUnits, Sizes, join, with_nodes
from modelplane.scheduling.room.room import has_room

#: Returns a group with its demand of one kind limited to a number.
_Limit = Callable[[Group, int], Group]


def find_lacked(sizes: Sizes, charge: Charge, placed: PoolOption) -> LackedUnits | None:
    """Return the kind that an option lacks beside the charge, None where devices are short too."""
    (nodes, counts, slots), groups = sizes.pools[placed.position], charge[placed.position]

    def fits(group: Group) -> bool:
        return has_room(nodes, counts, join(groups, group), slots)

    modest = placed.option.group
    # If two kinds are short the last is named, with what would be free of it without the other.
    for kind, needs, limit in _asked(placed.option, sizes.devices[placed.position]):
        without = limit(modest, 0)
        if fits(without):
            return LackedUnits(kind, needs, _most_free(needs, partial(limit, modest), fits))
        modest = without
    return None


def _asked(option: EngineOption, devices: int) -> Iterator[tuple[int, int, _Limit]]:
    """Yield (kind, most that a pod takes, function that limits it) for the kinds after the device entries."""
    if option.deviceless:
        yield PODS, option.deviceless, _with_pods
    for kind in range(len(KINDS)):
        entry = devices + kind
        most = max((demand[entry][1] for demand, _ in option.group if demand and len(demand) > entry), default=0)
        if most:
            yield kind, most, partial(_with_most, entry)


def _most_free(fails: int, limited: Callable[[int], Group], fits: Callable[[Group], bool]) -> int:
    """Return the most of a kind with which a group fits: it fits with none, and not with `fails`."""
    found = 0
    while fails - found > 1:
        middle = (found + fails) // 2
        if fits(limited(middle)):
            found = middle
        else:
            fails = middle
    return found


def _with_pods(group: Group, most: int) -> Group:
    """Return the group with at most `most` pods that take no device."""
    return (((), most), *with_nodes(group)) if most else with_nodes(group)


def _with_most(entry: int, group: Group, most: int) -> Group:
    """Return the group with at most `most` of an entry taken by each pod."""
    pods: dict[Demand, int] = {}
    for demand, many in group:
        less = demand
        if demand:
            low, high = demand[entry]
            less = (*demand[:entry], (min(low, most), min(high, most)), *demand[entry + 1 :])
        if not demand or any(high for _, high in less):
            pods[less] = pods.get(less, 0) + many
    return tuple(sorted(pods.items()))
