"""What the replicas of a cluster take of its pools, as the cluster publishes it: the groups of each pool as a text.

The groups are those that the check of room compares (docs/scheduling.md, "Room"), worked out by `ledger.stock_of` from
the replicas: a scheduling pass that reads the same replicas itself finds the same groups. A text has the groups apart
by spaces: `2*1x8` are two groups of one pod that takes 8 devices of the pool's only entry, `1*1x4,0+3x8,0-2` is a group
of one pod and of three others on nodes with two entries, of which the second is taken as 0 to 2 devices. Units of CPU
and memory stand behind the entries where pods ask for some: what is not written of them is 0. Pods that take no device
come first in their group: `1*5x0+1x8`.
"""

from collections.abc import Sequence
from functools import lru_cache
from re import fullmatch
from typing import Final

from modelplane.model.fleet import Cluster
from modelplane.scheduling.groups import Demand, Group, Groups, Stock
from modelplane.scheduling.hardware import Sizes, layout

#: Most characters that a cluster publishes of what is charged to all its pools.
MOST: Final = 40 * 1024
_NUMBER: Final = r"[0-9]{1,9}"
_ENTRY: Final = f"{_NUMBER}(-{_NUMBER})?"
_PODS: Final = f"{_NUMBER}x{_ENTRY}(,{_ENTRY})*"
_GROUP: Final = rf"{_NUMBER}\*{_PODS}(\+{_PODS})*"
#: Texts of a cluster of so many characters at most are remembered: few differ among clusters that are alike.
_SHORT: Final = 512


def _write_demand(demand: Demand, devices: int) -> str:
    demand = demand or ((0, 0),) * devices
    written = len(demand)
    while written > devices and not demand[written - 1][1]:
        written -= 1
    return ",".join(f"{most}" if surely == most else f"{surely}-{most}" for surely, most in demand[:written])


def write_groups(groups: Groups, devices: int) -> str:
    """Return the groups of a pool with so many entries of devices as a text, "" where nothing is charged."""
    return " ".join(
        f"{times}*" + "+".join(f"{pods}x{_write_demand(demand, devices)}" for demand, pods in group)
        for group, times in groups
    )


def write_stock(stock: Stock, devices: Sequence[int], most: int = MOST) -> tuple[str, ...] | None:
    """Return the groups of each pool of a cluster as texts, None where they have more than `most` characters in all.

    `devices` are how many entries of devices each pool has.
    """
    texts = tuple(map(write_groups, stock, devices))
    return texts if sum(map(len, texts)) <= most else None


def _read_demand(text: str, counts: Sequence[int], devices: int) -> Demand | None:
    """Return what a pod takes, () nothing, None where it is of other entries, or more than a node has."""
    pairs = [entry.split("-") for entry in text.split(",")]
    demand = tuple((int(pair[0]), int(pair[-1])) for pair in pairs)
    if len(demand) >= devices:
        demand += ((0, 0),) * (len(counts) - len(demand))
    fits = len(demand) == len(counts) and all(
        surely <= most <= count for (surely, most), count in zip(demand, counts, strict=True)
    )
    if not fits:
        return None
    return demand if any(most for _, most in demand) else ()


def _read_group(text: str, counts: Sequence[int], devices: int) -> tuple[Group, int] | None:
    if not fullmatch(_GROUP, text):
        return None
    times, _, pods = text.partition("*")
    found: dict[Demand, int] = {}
    for each in pods.split("+"):
        many, _, taken = each.partition("x")
        demand = _read_demand(taken, counts, devices)
        if demand is None or int(many) == 0:
            return None
        found[demand] = found.get(demand, 0) + int(many)
    return tuple(sorted(found.items())), int(times)


def read_groups(text: str, counts: tuple[int, ...], devices: int) -> Groups | None:
    """Return the groups of a pool whose nodes have so much of each kind, None where the text is none of such a pool.

    The first `devices` of the kinds are entries of devices.
    """
    found: dict[Group, int] = {}
    for each in text.split(" ") if text else ():
        read = _read_group(each, counts, devices)
        if read is None or read[1] == 0:
            return None
        found[read[0]] = found.get(read[0], 0) + read[1]
    return tuple(sorted(found.items()))


def _read_stock(texts: tuple[str, ...], sizes: Sizes) -> Stock | None:
    found: list[Groups] = []
    for text, (_, counts, _), devices in zip(texts, sizes.pools, sizes.devices, strict=True):
        groups = read_groups(text, counts, devices)
        if groups is None:
            return None
        found.append(groups)
    return tuple(found)


_remembered: Final = lru_cache(maxsize=4096)(_read_stock)


def read_stock(cluster: Cluster) -> Stock | None:
    """Return the groups that a cluster publishes of its pools, None where it does not publish those of each."""
    texts = tuple([pool.charged for pool in cluster.pools or () if pool.charged is not None])
    if len(texts) != len(cluster.pools or ()):
        return None
    read = _remembered if sum(map(len, texts)) <= _SHORT else _read_stock
    return read(texts, layout(cluster).sizes)
