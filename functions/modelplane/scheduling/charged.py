"""What the replicas of a cluster take of its pools, as the cluster publishes it: one text of groups for each pool.

The groups are those that the check of room compares (docs/scheduling.md, "Room"), computed by `ledger.stock_of`: a
scheduling pass that reads the same replicas itself finds the same groups. Groups are separated by spaces. `2*1x8` is
two groups of one pod each, which takes 8 devices of the pool's only entry. `1*1x4,0+3x8,0-2` is one group of four pods
on nodes with two entries: one pod takes 4 devices of the first entry, three take 8 of it and 0 to 2 of the second.
Units of CPU and memory follow the entries where pods ask for some; trailing zeros are left out. Pods that take no
device come first in their group: `1*5x0+1x8`.
"""

from collections.abc import Sequence
from functools import lru_cache
from re import fullmatch
from typing import Final

from modelplane.model.fleet import Cluster
from modelplane.scheduling.groups import Demand, Group, Groups, Stock
from modelplane.scheduling.hardware import Sizes, layout

#: Most characters that a cluster publishes for all its pools together.
MOST: Final = 40 * 1024
_NUMBER: Final = r"[0-9]{1,9}"
_ENTRY: Final = f"{_NUMBER}(-{_NUMBER})?"
_PODS: Final = f"{_NUMBER}x{_ENTRY}(,{_ENTRY})*"
_GROUP: Final = rf"{_NUMBER}\*{_PODS}(\+{_PODS})*"
#: Parsed texts of up to so many characters in all are cached: clusters that are alike mostly publish the same ones.
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
    """Return the groups of each pool of a cluster as texts, None if they have more than `most` characters in all.

    `devices` is the number of device entries of each pool.
    """
    texts = tuple(map(write_groups, stock, devices))
    return texts if sum(map(len, texts)) <= most else None


def _read_demand(text: str, counts: Sequence[int], devices: int) -> Demand | None:
    """Return a pod's demand, () for no devices, None for a text that names other entries or more than a node has."""
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
    """Return the groups of a pool, None for a text that does not describe such a pool.

    `counts` is what its nodes have of each kind; the first `devices` of the kinds are device entries.
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
    """Return the groups that a cluster publishes, None unless it publishes them for each of its pools."""
    texts = tuple([pool.charged for pool in cluster.pools or () if pool.charged is not None])
    if len(texts) != len(cluster.pools or ()):
        return None
    read = _remembered if sum(map(len, texts)) <= _SHORT else _read_stock
    return read(texts, layout(cluster).sizes)
