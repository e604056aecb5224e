"""The pods on a pool as the check of room counts them: in groups, with the number of pods that take no device.

Pods of one group that take some of an entry (a device, or units of CPU or memory) run on distinct nodes. All other
pods run wherever a node takes one more pod.
"""

from typing import NamedTuple

#: What one pod takes of each entry: (surely, at most). Never more than a node has.
Demand = tuple[tuple[int, int], ...]
#: The pods of one engine of one replica: (demand, how many), sorted. The empty demand, which comes first, counts all
#: pods that take no device; those of them that take CPU or memory are counted under their demand as well.
Group = tuple[tuple[Demand, int], ...]
#: The groups of a pool: (group, how many alike), sorted.
Groups = tuple[tuple[Group, int], ...]
#: The groups on each pool of a cluster, in the pools' order.
Stock = tuple[Groups, ...]


class LackedUnits(NamedTuple):
    """A shortage of CPU, memory or pods: the position of the kind, the units that a pod needs, and those free."""

    kind: int
    needs: int
    free: int


def size(group: Group) -> int:
    """Return the number of pods of a group that need a node of their own."""
    return sum([pods for demand, pods in group if demand])


def with_nodes(group: Group) -> Group:
    """Return a group without the pods that need no node of their own."""
    return group[1:] if group and not group[0][0] else group


def all_with_nodes(groups: Groups) -> Groups:
    """Return the groups without the pods that need no node of their own; `groups` itself where there are none."""
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
