"""Pods as a kind of room: how many a node runs, and how many nodes pods alone can fill.

Kubernetes binds no pod to a node that runs as many as its kubelet takes, whatever else is free there. A pod that claims
takes a device, so that a node runs no more of these than it has devices. All others Kubernetes may put on one node, or
spread (docs/scheduling.md, "Room").
"""

from typing import Final, NamedTuple

from modelplane.model.resources import DEFAULT_PODS
from modelplane.scheduling.groups import Groups, size


class PodSlots(NamedTuple):
    """The pods of engines that a node of a pool runs at most, and how many of them can claim devices there."""

    pods: int = DEFAULT_PODS
    claiming: int = 0

    def most_full(self, groups: Groups) -> int:
        """Return how many nodes these groups can fill with pods, so that one pod of theirs more finds no slot there.

        A pod that takes no device lacks a slot only where that is every node.
        """
        without = count_deviceless(groups)
        if not without and self.claiming < self.pods:
            return 0
        return self.most_full_of(without, sum([size(group) * many for group, many in groups]))

    def most_full_of(self, without: int, others: int) -> int:
        """Return the same of so many pods that take no device, and others.

        Pods that take CPU or memory and no device are both: few ask for these without a device.
        """
        full = max(0, without + others - 1) // self.pods
        # On a full node no more than `claiming` of the pods claim.
        return full if self.claiming >= self.pods else min(full, without // (self.pods - self.claiming))


#: A node of which nothing is declared, and nothing can be claimed.
ANY_NODE: Final = PodSlots()
#: Stands for slots where pods that run are looked at: kubelets take them, whatever the pool declares.
ENDLESS: Final = PodSlots(1 << 31)


def count_deviceless(groups: Groups) -> int:
    """Return how many pods of all groups take no device."""
    return sum([group[0][1] * many for group, many in groups if not group[0][0]])
