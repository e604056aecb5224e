"""What a stamped replica takes of its pools, and the text by which a cluster publishes it.

A replica is charged whether or not its pods are bound yet. A cluster publishes for each pool the groups that the check
of room compares (docs/scheduling.md, "Room"), computed by `ledger.charge_of`: a scheduling pass that reads the same
replicas itself finds the same groups. Groups are separated by spaces. `2*1x8` is two groups of one pod each, which
takes 8 devices of the pool's only entry. `1*1x4,0+3x8,0-2` is one group of four pods on nodes with two entries: one pod
takes 4 devices of the first entry, three take 8 of it and 0 to 2 of the second. Units of CPU and memory follow the
entries where pods ask for some; trailing zeros are left out. Pods that take no device come first in their group:
`1*5x0+1x8`.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from re import fullmatch
from sys import getsizeof
from typing import Final

from modelplane.cel import Outcome
from modelplane.lru import Identity, Lru
from modelplane.model.fleet import ClaimKind, Cluster
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.scheduling.matching import evaluate, matching
from modelplane.scheduling.pools import (
    Charge,
    Demand,
    Group,
    Groups,
    Hardware,
    Sizes,
    demand_of,
    group,
    layout,
    taken_of,
    weigh_groups,
)

#: The groups of engines on hardware, by the identity of both: replicas of a deployment share their engines.
_GROUPS: Final = Lru[Group](16 * 1024 * 1024)


def entries_of(claim: Claim, hardware: Hardware) -> list[int]:
    """Return the entries from which Kubernetes may satisfy the claim: those of its class that its selectors match.

    Every entry of the class is charged where none matches any more (a corrected InferenceClass: the pods still hold
    their devices), and where the selectors take too many states to evaluate. The selectors of a class with one entry,
    which most classes are, are not evaluated.
    """
    of_class = [
        entry
        for entry, device in enumerate(hardware.devices)
        if device.claim is ClaimKind.DRA and device.device_class == claim.device_class
    ]
    if len(of_class) < 2:
        return of_class
    found = matching(claim.selectors, [hardware.devices[entry] for entry in of_class])
    return [entry for entry, matches in zip(of_class, found or (), strict=False) if matches] or of_class


def can_claim(claim: Claim, hardware: Hardware) -> bool:
    """Tell whether Kubernetes would satisfy the claim on a node; an error on a device of its class rules it out."""
    of_class = [
        device
        for device in hardware.devices
        if device.claim is ClaimKind.DRA and device.device_class == claim.device_class
    ]
    outcomes = [evaluate(claim.selectors, device).outcome for device in of_class]
    enough = (
        device.count >= claim.count
        for device, outcome in zip(of_class, outcomes, strict=True)
        if outcome is Outcome.MATCH
    )
    return Outcome.ERROR not in outcomes and any(enough)


def demand(claims: Iterable[Claim], hardware: Hardware) -> Demand:
    """Return what one pod with these claims takes of each device entry of the hardware."""
    return taken_of(((claim.count, entries_of(claim, hardware)) for claim in claims), hardware.counts)


def _demand_of(member: StampedMember, hardware: Hardware) -> Demand:
    asked = demand_of(member.asked, hardware.node)
    if member.whole_nodes:
        claimable = (device.claim is ClaimKind.DRA for device in hardware.devices)
        whole = zip(claimable, hardware.counts, strict=True)
        return (*((0, count if claims else 0) for claims, count in whole), *asked)
    return demand(member.claims, hardware) + asked


def weigh_engine(engine: StampedEngine) -> int:
    """Return an upper estimate of the bytes that an engine keeps alive, much faster than weighing it exactly."""
    claims = [claim for member in engine.members for claim in member.claims]
    texts = [text for claim in claims for text in claim.selectors]
    return 512 + 512 * len(engine.members) + 768 * len(claims) + sum([8 + getsizeof(text) for text in texts])


def engine_group(engine: StampedEngine, pool: str, hardware: Hardware) -> Group:
    """Return the group of the engine's pods on the pool of that name."""

    def make() -> tuple[Group, int]:
        published = read_groups(engine.charged, hardware.capacity, len(hardware.counts)) if engine.charged else None
        if published:
            return published[0][0], weigh_engine(engine) + weigh_groups(len(hardware.capacity), published)
        members = (member for member in engine.members if member.pool == pool)
        pods = ((_demand_of(member, hardware), member.pods * engine.copies) for member in members)
        found = group(pods, len(hardware.counts))
        return found, weigh_engine(engine) + weigh_groups(len(hardware.capacity), ((found, 1),))

    return _GROUPS.get((Identity(engine), pool, hardware), make)


#: Most characters that a cluster publishes for all its pools together.
MOST_PUBLISHED: Final = 40 * 1024
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


def write_charge(charge: Charge, devices: Sequence[int], most: int = MOST_PUBLISHED) -> tuple[str, ...] | None:
    """Return the groups of each pool of a cluster as texts, None if they have more than `most` characters in all.

    `devices` is the number of device entries of each pool.
    """
    texts = tuple(map(write_groups, charge, devices))
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


def _parse_charge(texts: tuple[str, ...], sizes: Sizes) -> Charge | None:
    found: list[Groups] = []
    for text, (_, counts, _), devices in zip(texts, sizes.pools, sizes.devices, strict=True):
        groups = read_groups(text, counts, devices)
        if groups is None:
            return None
        found.append(groups)
    return tuple(found)


_remembered: Final = lru_cache(maxsize=4096)(_parse_charge)


def read_charge(cluster: Cluster) -> Charge | None:
    """Return the groups that a cluster publishes, None unless it publishes them for each of its pools."""
    texts = tuple([pool.charged for pool in cluster.pools or () if pool.charged is not None])
    if len(texts) != len(cluster.pools or ()):
        return None
    read = _remembered if sum(map(len, texts)) <= _SHORT else _parse_charge
    return read(texts, layout(cluster).sizes)
