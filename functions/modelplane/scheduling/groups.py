"""What runs on a pool, as the check of room counts it: groups of pods, and how many of these take no device.

Pods that take some of an entry (a device, or units of CPU or memory) need a node of their own in their group. All
others stand wherever a node takes one pod more.
"""

from typing import NamedTuple

#: What one pod takes of each entry: (surely, at most). Never more than a node has.
Demand = tuple[tuple[int, int], ...]
#: The pods of one engine of one replica: (demand, how many), sorted. Under the empty demand, which comes first, stands
#: how many of them take no device; those of them that take CPU or memory stand under their demand as well.
Group = tuple[tuple[Demand, int], ...]
#: The groups of a pool: (group, how many alike), sorted.
Groups = tuple[tuple[Group, int], ...]
#: The groups on each pool of a cluster, in the pools' order.
Stock = tuple[Groups, ...]


class LackedUnits(NamedTuple):
    """What nodes lack of a kind that is no device (its place among those): units that a pod needs, and free ones."""

    kind: int
    needs: int
    free: int


def size(group: Group) -> int:
    """Return the number of pods of a group that need a node of their own."""
    return sum([pods for demand, pods in group if demand])


def with_nodes(group: Group) -> Group:
    """Return the pods of a group that need a node of their own."""
    return group[1:] if group and not group[0][0] else group


def all_with_nodes(groups: Groups) -> Groups:
    """Return of all groups the pods that need a node of their own; the value itself where there are no others."""
    if () not in [group[0][0] for group, _ in groups]:
        return groups
    counted: dict[Group, int] = {}
    for group, many in groups:
        if rest := with_nodes(group):
            counted[rest] = counted.get(rest, 0) + many
    return tuple(sorted(counted.items()))


def join(groups: Groups, group: Group, times: int = 1) -> Groups:
    """Return the groups with `times` more (negative: fewer) of `group`; a group without charge changes nothing."""
    if not group:
        return groups
    counted = dict(groups)
    counted[group] = counted.get(group, 0) + times
    return tuple(sorted([each for each in counted.items() if each[1] > 0]))


def weigh_groups(entries: int, groups: Groups) -> int:
    """Return the bytes that groups on a pool of so many entries keep alive, or somewhat more."""
    return 128 + 64 * entries + sum([192 + (192 + 128 * entries) * len(group) for group, _ in groups])
