"""What a stamped replica takes of its pools, whether or not its pods are bound yet."""

from collections.abc import Iterable, Sequence
from sys import getsizeof
from typing import Final

from modelplane.cel import Outcome
from modelplane.lru import Identity, Lru
from modelplane.model.fleet import ClaimKind
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.scheduling.charged import read_groups
from modelplane.scheduling.groups import Demand, Group, weigh_groups
from modelplane.scheduling.hardware import Hardware
from modelplane.scheduling.node_resources import demand_of
from modelplane.scheduling.selectors import evaluate, matching

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


def group(pods: Iterable[tuple[Demand, int]], devices: int) -> Group:
    """Return the group of pods (what each takes, how many) on nodes with so many entries of devices."""
    counted: dict[Demand, int] = {}
    for taken, many in pods:
        if many > 0 and any(most for _, most in taken):
            counted[taken] = counted.get(taken, 0) + many
        if many > 0 and not any(most for _, most in taken[:devices]):
            counted[()] = counted.get((), 0) + many
    return tuple(sorted(counted.items()))


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
