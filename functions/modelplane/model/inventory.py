"""What the nodes of a cluster's pools have, as `modelplane inventory` publishes it there. Times are Unix seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.model.resources import NOTHING, Resources

#: Version of the document; another one is not read.
VERSION: Final = 1
#: Seconds after which a node that has less than before counts with what it has.
PATIENCE: Final = 300
#: Most bytes of a document.
LARGEST: Final = 100_000


@dataclass(frozen=True, slots=True)
class PublishedDevices:
    """Devices of one kind that a node's ResourceSlices publish: equal but for what names each of them.

    `attributes` and `capacity` are as in a ResourceSlice, by qualified name, in the order of their names. `unhealthy`
    of the `count` devices have a taint by which no pod gets them.
    """

    driver: str
    count: int
    attributes: tuple[tuple[str, str, str | bool | int], ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    unhealthy: int = 0

    @property
    def usable(self) -> int:
        """Return the devices that a pod can get."""
        return max(0, self.count - self.unhealthy)


@dataclass(frozen=True, slots=True)
class NodeState:
    """What a node of a pool has.

    `ready`: it is Ready, and takes new pods. `allocatable` is what its kubelet gives pods. `taints` are
    `key=value:effect`, those that keep pods away. `used_by` is a ResourceClaim of others on its devices,
    `namespace/name`, "" where there is none.
    """

    ready: bool = True
    allocatable: Resources = NOTHING
    pods: int = 0
    taints: tuple[str, ...] = ()
    used_by: str = ""
    devices: tuple[PublishedDevices, ...] = ()

    def has_all_of(self, before: "NodeState") -> bool:
        """Tell whether the node has nothing less than it had before."""
        counts = {(each.driver, each.attributes, each.capacity): each.usable for each in self.devices}
        fewer = any(
            counts.get((each.driver, each.attributes, each.capacity), 0) < each.usable for each in before.devices
        )
        small = (
            self.allocatable.cpu < before.allocatable.cpu
            or self.allocatable.memory < before.allocatable.memory
            or self.pods < before.pods
        )
        taken = (before.ready and not self.ready) or (self.used_by and not before.used_by)
        return not (fewer or small or taken or not {*self.taints} <= {*before.taints})


@dataclass(frozen=True, slots=True)
class Inventory:
    """The nodes of each pool with what counts of them, at a time of the cluster's own clock.

    What counts is what a node has, and what it had where it has had less for no longer than `PATIENCE`. `settled`:
    nodes have been watched for long enough that one which is missing counts as missing. `groups` has for each pool
    the different states and how many nodes are in each.
    """

    uid: str
    at: int
    settled: bool
    groups: Mapping[str, tuple[tuple[NodeState, int], ...]] = field(default_factory=dict)

    def nodes(self, pool: str) -> tuple[tuple[NodeState, int], ...]:
        """Return the states of the nodes of a pool with their numbers."""
        return self.groups.get(pool, ())


def attributes_of(devices: PublishedDevices) -> dict[str, dict[str, Any]]:
    """Return attributes as in a manifest."""
    return {name: {kind: value} for name, kind, value in devices.attributes}
