"""What a pool's nodes carry, as values that are compared by identity: equal devices, one `Hardware`.

Everything that is derived from devices (matches, charges, room) is cached under its hardware, so it is worked out once
per kind of pool and not once per cluster.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import Final

from modelplane import cel
from modelplane.lru import Identity, Lru, remembered
from modelplane.model.catalogue import Capabilities
from modelplane.model.fleet import Cluster, Device, PodToleration, Pool

#: Most devices of one entry on a node that are counted. No machine has as many; a typo of a billion must not cost
#: memory, and counting fewer than there are only refuses, it never overcommits.
MOST_DEVICES = 4096
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """The device entries of a node, how many devices each has, and the bytes that the entries keep alive.

    `capabilities` are what the pool declares of its nodes.
    """

    devices: tuple[Device, ...]
    counts: tuple[int, ...]
    weight: int
    capabilities: Capabilities | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PoolNodes:
    """A pool: its nodes, what each of them carries, and what pods tolerate there."""

    name: str
    nodes: int
    hardware: Hardware
    tolerations: tuple[PodToleration, ...] = ()


#: The pools of a cluster: whether each has nodes at all, and its hardware.
Shape = tuple[tuple[bool, Hardware], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Of each pool of a cluster its nodes, and how many devices each entry has: all that room depends on."""

    pools: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The pools of a cluster in the operator's order. `shape` is equal for clusters whose pools host the same."""

    pools: tuple[PoolNodes, ...]
    positions: Mapping[str, int]
    shape: Shape
    sizes: Sizes


_HARDWARE: Final = Lru[Hardware](8 * _MIB)
_SEEN: Final = Lru[Hardware](8 * _MIB)
_SIZES: Final = Lru[Sizes](2 * _MIB)
_POOLS: Final = Lru[Layout](4 * _MIB)
_LAYOUTS: Final = Lru[Layout](8 * _MIB)
#: Bytes of a pool in a layout, without its hardware.
_POOL: Final = 512


def hardware(devices: tuple[Device, ...], capabilities: Capabilities | None = None) -> Hardware:
    """Return the hardware of these device entries and capabilities."""

    def make() -> tuple[Hardware, int]:
        weight = sum(map(cel.weigh_device, devices))
        counts = tuple(max(0, min(device.count, MOST_DEVICES)) for device in devices)
        return Hardware(devices, counts, weight, capabilities), weight

    return _HARDWARE.get((devices, capabilities) if capabilities else devices, make)


def seen_by(of: Hardware, see: Callable[[Device], Device], key: Hashable) -> Hardware:
    """Return hardware with no more of each device than `see` leaves, one value for all that is alike to it.

    `key` stands for `see`.
    """

    def make() -> tuple[Hardware, int]:
        return hardware(tuple(map(see, of.devices))), 2 * of.weight

    return _SEEN.get((of, key), make)


@remembered(_SIZES, lambda pools: _POOL + _POOL * len(pools))
def _sizes(pools: tuple[tuple[int, tuple[int, ...]], ...]) -> Sizes:
    return Sizes(pools)


@remembered(_POOLS, lambda pools: _POOL * (1 + sum(1 + len(pool[3]) for pool in pools)))
def _interned(pools: tuple[tuple[str, int, Hardware, tuple[PodToleration, ...]], ...]) -> Layout:
    found = tuple(PoolNodes(*pool) for pool in pools)
    shape = tuple((pool.nodes > 0, pool.hardware) for pool in found)
    sizes = _sizes(tuple((pool.nodes, pool.hardware.counts) for pool in found))
    return Layout(found, {pool.name: position for position, pool in enumerate(found)}, shape, sizes)


def weigh_cluster(cluster: Cluster) -> int:
    """Return the bytes that a cluster keeps alive but for devices, or somewhat more, sooner than weighing them does."""
    texts = [text for label in cluster.labels.items() for text in label]
    texts += [text for taint in cluster.taints for text in (taint.key, taint.value)]
    return 768 + sum([96 + getsizeof(text) for text in texts]) + 288 * len(cluster.pools or ())


def layout_of(pools: tuple[Pool, ...]) -> Layout:
    """Return pools as a layout, one value for all that are equal."""
    hosts = (
        (pool.name, max(0, pool.nodes), hardware(pool.devices, pool.capabilities), pool.tolerations) for pool in pools
    )
    return _interned(tuple(hosts))


def _layout(cluster: Cluster) -> tuple[Layout, int]:
    return layout_of(cluster.pools or ()), weigh_cluster(cluster)


def layout(cluster: Cluster) -> Layout:
    """Return the cluster's pools, one value for all clusters with equal pools; none when it has not published them."""
    return _LAYOUTS.get(Identity(cluster), lambda: _layout(cluster))
