"""The pods on a pool as the check of room counts them: in groups, with the number of pods that take no device.

Pods of one group that take some of an entry (a device, or units of CPU or memory) run on distinct nodes. All other
pods run wherever a node takes one more pod. Kubernetes binds no pod to a node that runs as many as its kubelet allows,
whatever else is free there. A node runs no more pods with claims than it has devices. All other pods may be put on one
node or spread (docs/scheduling.md, "Room").
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from modelplane.model.resources import DEFAULT_PODS

#: What one pod takes of each entry: (surely, at most). Never more than a node has.
Demand = tuple[tuple[int, int], ...]
#: The pods of one engine of one replica: (demand, how many), sorted. The empty demand, which comes first, counts all
#: pods that take no device; those of them that take CPU or memory are counted under their demand as well.
Group = tuple[tuple[Demand, int], ...]
#: The groups of a pool: (group, how many alike), sorted.
Groups = tuple[tuple[Group, int], ...]
#: The groups on each pool of a cluster, in the pools' order.
Charge = tuple[Groups, ...]


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


class PodSlots(NamedTuple):
    """The most pods of engines that a node of a pool runs, and how many of them can claim devices there."""

    pods: int = DEFAULT_PODS
    claiming: int = 0

    def most_full(self, groups: Groups) -> int:
        """Return how many nodes these groups can fill with pods, so that one more of their pods finds no slot there.

        A pod that takes no device lacks a slot only where that is every node.
        """
        without = count_deviceless(groups)
        if not without and self.claiming < self.pods:
            return 0
        return self.most_full_of(without, sum([size(group) * many for group, many in groups]))

    def most_full_of(self, without: int, others: int) -> int:
        """Return the same for a number of pods that take no device, and a number of others.

        Pods that take CPU or memory and no device are counted in both numbers; they are few.
        """
        full = max(0, without + others - 1) // self.pods
        # At most `claiming` of the pods on a full node have claims.
        return full if self.claiming >= self.pods else min(full, without // (self.pods - self.claiming))


#: A node without declared pods or claimable devices.
ANY_NODE: Final = PodSlots()
#: Slots without limit, for pods that already run: kubelets took them, whatever the pool declares.
ENDLESS: Final = PodSlots(1 << 31)


def count_deviceless(groups: Groups) -> int:
    """Return how many pods of all groups take no device."""
    return sum([group[0][1] * many for group, many in groups if not group[0][0]])


def taken_of(takes: Iterable[tuple[int, Sequence[int]]], counts: Sequence[int]) -> Demand:
    """Return what one pod takes of each entry. `takes`: counts, each with the entries that it may be taken from."""
    surely, at_most = [0] * len(counts), [0] * len(counts)
    for count, entries in takes:
        for entry in entries:
            at_most[entry] += count
            surely[entry] += count if len(entries) == 1 else 0
    return tuple(
        (min(sure, count), min(most, count)) for sure, most, count in zip(surely, at_most, counts, strict=True)
    )


def group(pods: Iterable[tuple[Demand, int]], devices: int) -> Group:
    """Return the group of pods (what each takes, how many) on nodes with so many entries of devices."""
    counted: dict[Demand, int] = {}
    for taken, many in pods:
        if many > 0 and any(most for _, most in taken):
            counted[taken] = counted.get(taken, 0) + many
        if many > 0 and not any(most for _, most in taken[:devices]):
            counted[()] = counted.get((), 0) + many
    return tuple(sorted(counted.items()))
