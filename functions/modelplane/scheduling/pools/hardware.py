"""What a pool's nodes carry, as values that are compared by identity: equal devices, one `Hardware`.

Everything derived from devices (matches, charges, room) is cached by hardware, so it is computed once for each kind of
pool and not once for each cluster.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import Final, cast

from modelplane import cel
from modelplane.lru import Lru, remembered
from modelplane.model.catalogue import Capabilities
from modelplane.model.fleet import ClaimKind, Cluster, Device, PodToleration, Pool
from modelplane.model.resources import NOTHING, Resources
from modelplane.scheduling.pools.groups import ANY_NODE, PodSlots
from modelplane.scheduling.pools.node_resources import counts_of

#: Most devices of one entry on a node that are counted. No machine has as many; a typo of a billion must not cost
#: memory, and counting fewer than there are only refuses, it never overcommits.
MOST_DEVICES = 4096
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """The device entries of a node, how many devices each has, and the bytes that the entries keep alive.

    `capabilities` are what the pool declares of its nodes, `node` what engines have of their CPU and memory. `capacity`
    is all that the check of room counts: the devices of each entry, and behind them the units of what `node` declares.
    """

    devices: tuple[Device, ...]
    counts: tuple[int, ...]
    weight: int
    capacity: tuple[int, ...]
    capabilities: Capabilities | None = None
    node: Resources = NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class PoolNodes:
    """A pool: its nodes, their hardware, the tolerations of pods there, and how many pods a node runs."""

    name: str
    nodes: int
    hardware: Hardware
    tolerations: tuple[PodToleration, ...] = ()
    slots: PodSlots = ANY_NODE


#: The pools of a cluster: whether each has nodes at all, and its hardware.
Shape = tuple[tuple[bool, Hardware], ...]


#: The nodes of a pool, what each of them has of every kind, and the pods that it runs.
PoolSize = tuple[int, tuple[int, ...], PodSlots]


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The nodes of each pool of a cluster and what each of them has and runs: all that room depends on.

    `devices` is, for each pool, how many of its kinds are device entries.
    """

    pools: tuple[PoolSize, ...]
    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The pools of a cluster in the operator's order. `shape` is equal for clusters whose pools host the same."""

    pools: tuple[PoolNodes, ...]
    positions: Mapping[str, int]
    shape: Shape
    sizes: Sizes


_HARDWARE: Final = Lru[Hardware](8 * _MIB)
_SEEN: Final = Lru[Hardware](8 * _MIB, lambda key: (key[0], key[0].weight))
_SIZES: Final = Lru[Sizes](2 * _MIB)
_POOLS: Final = Lru[Layout](4 * _MIB)
#: Bytes of a pool in a layout, without its hardware.
_POOL: Final = 512


def hardware(
    devices: tuple[Device, ...], capabilities: Capabilities | None = None, node: Resources = NOTHING
) -> Hardware:
    """Return the hardware of these device entries, capabilities, and CPU and memory."""

    def make() -> tuple[Hardware, int]:
        weight = sum(map(cel.weigh_device, devices))
        counts = tuple(max(0, min(device.count, MOST_DEVICES)) for device in devices)
        return Hardware(devices, counts, weight, counts + counts_of(node), capabilities, node), weight

    return _HARDWARE.get((devices, capabilities, node) if capabilities or node != NOTHING else devices, make)


def seen_by(of: Hardware, see: Callable[[Device], Device], key: Hashable) -> Hardware:
    """Return the hardware with each device reduced by `see`; results that are equal are one value.

    `key` identifies `see` in the cache.
    """

    def make() -> tuple[Hardware, int]:
        found = hardware(tuple(map(see, of.devices)), node=of.node)
        return found, found.weight

    return _SEEN.get((of, key), make)


@remembered(_SIZES, lambda pools, _: _POOL + _POOL * len(pools))
def _sizes(pools: tuple[PoolSize, ...], devices: tuple[int, ...]) -> Sizes:
    return Sizes(pools, devices)


@remembered(_POOLS, lambda pools: _POOL * (1 + sum(1 + len(pool[3]) for pool in pools)))
def _interned(pools: tuple[tuple[str, int, Hardware, tuple[PodToleration, ...], PodSlots], ...]) -> Layout:
    found = tuple(PoolNodes(*pool) for pool in pools)
    shape = tuple((pool.nodes > 0, pool.hardware) for pool in found)
    entries = tuple(len(pool.hardware.counts) for pool in found)
    sizes = _sizes(tuple((pool.nodes, pool.hardware.capacity, pool.slots) for pool in found), entries)
    return Layout(found, {pool.name: position for position, pool in enumerate(found)}, shape, sizes)


def weigh_cluster(cluster: Cluster) -> int:
    """Return an upper estimate of the bytes that a cluster keeps alive without its devices, in little time."""
    texts = [text for label in cluster.labels.items() for text in label]
    texts += [text for taint in cluster.taints for text in (taint.key, taint.value)]
    return 768 + sum([40 + getsizeof(text) for text in texts]) + 224 * len(cluster.pools or ())


def layout_of(pools: tuple[Pool, ...]) -> Layout:
    """Return the layout of pools; layouts that are equal are one value."""
    nodes = [hardware(pool.devices, pool.capabilities, pool.node) for pool in pools]
    return _interned(
        tuple(
            (pool.name, max(0, pool.nodes), each, pool.tolerations, _slots(pool.pods, each))
            for pool, each in zip(pools, nodes, strict=True)
        )
    )


def _slots(pods: int, of: Hardware) -> PodSlots:
    claimable = (device.claim is ClaimKind.DRA for device in of.devices)
    return PodSlots(pods, sum(count for count, claims in zip(of.counts, claimable, strict=True) if claims))


def layout(cluster: Cluster) -> Layout:
    """Return the cluster's layout, without pools while it has published none; clusters with equal pools share one.

    It is stored with the cluster value. A cache by cluster was rejected: a fleet that does not fit into the cache is
    read in the same order every time, and never finds one of its layouts.
    """
    found = cluster.laid_out
    if found is None:
        found = layout_of(cluster.pools or ())
        object.__setattr__(cluster, "laid_out", found)
    return cast("Layout", found)


def weigh_layout(where: Layout) -> int:
    """Return an upper estimate of the bytes that a layout keeps alive without its devices."""
    return _POOL + sum(_POOL * (2 + len(pool.tolerations)) for pool in where.pools)
