"""Pods as a kind of room: how many a node runs, and how many nodes can be full of pods.

Kubernetes binds no pod to a node that runs as many as its kubelet allows, whatever else is free there. A node runs no
more pods with claims than it has devices. All other pods may be put on one node or spread (docs/scheduling.md, "Room").
"""

from typing import Final, NamedTuple

from modelplane.model.resources import DEFAULT_PODS
from modelplane.scheduling.groups import Groups, size


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
