"""What runs on a pool, as the check of room counts it: groups of pods, each of which needs a node of its own."""

from typing import NamedTuple

#: What one pod takes of each entry: (surely, at most). Never more than a node has.
Demand = tuple[tuple[int, int], ...]
#: The pods of one engine of one replica: (demand, how many), sorted.
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
    """Return the number of pods of a group, each of which needs a node of its own."""
    return sum([pods for _, pods in group])


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
