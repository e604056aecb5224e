"""What a pool's nodes carry, as values that are compared by identity: equal devices, one `Hardware`.

Everything that is derived from devices (matches, charges, room) is cached under its hardware, so it is worked out once
per kind of pool and not once per cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from modelplane.model.fleet import Cluster, Device, Pool

#: Most devices of one entry on a node that are counted. No machine has as many; a typo of a billion must not cost
#: memory, and counting fewer than there are only refuses, it never overcommits.
MOST_DEVICES = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """The device entries of a node, and how many devices each has."""

    devices: tuple[Device, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PoolNodes:
    """A pool: its nodes, and what each of them carries."""

    name: str
    nodes: int
    hardware: Hardware


#: The pools of a cluster: whether each has nodes at all, and its hardware.
Shape = tuple[tuple[bool, Hardware], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The pools of a cluster in the operator's order. `shape` is equal for clusters whose pools host the same."""

    pools: tuple[PoolNodes, ...]
    positions: Mapping[str, int]
    shape: Shape


class Identity:
    """A cache key that stands for one object and keeps it alive; reading an object twice costs no comparison."""

    __slots__ = ("of",)

    def __init__(self, of: Cluster) -> None:
        self.of = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.of is other.of


@lru_cache(maxsize=4096)
def hardware(devices: tuple[Device, ...]) -> Hardware:
    """Return the hardware of these device entries."""
    return Hardware(devices, tuple(max(0, min(device.count, MOST_DEVICES)) for device in devices))


@lru_cache(maxsize=8192)
def _interned(pools: tuple[tuple[str, int, Hardware], ...]) -> Layout:
    found = tuple(PoolNodes(*pool) for pool in pools)
    shape = tuple((pool.nodes > 0, pool.hardware) for pool in found)
    return Layout(found, {pool.name: position for position, pool in enumerate(found)}, shape)


@lru_cache(maxsize=8192)
def _layout(cluster: Identity) -> Layout:
    pools: tuple[Pool, ...] = cluster.of.pools or ()
    return _interned(tuple((pool.name, max(0, pool.nodes), hardware(pool.devices)) for pool in pools))


def layout(cluster: Cluster) -> Layout:
    """Return the cluster's pools, one value for all clusters with equal pools; none when it has not published them."""
    return _layout(Identity(cluster))
