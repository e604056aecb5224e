"""What a stamped replica takes of its pools, whether or not its pods are bound yet."""

from functools import lru_cache

from modelplane.model.fleet import ClaimKind
from modelplane.model.replica import Claim, StampedEngine
from modelplane.scheduling.hardware import Hardware
from modelplane.scheduling.judge import matches
from modelplane.scheduling.room import Demand, Group

CACHE_SIZE = 1 << 14


def _entries(claim: Claim, hardware: Hardware) -> list[int]:
    """Return the entries Kubernetes may satisfy the claim from: those of its class that its selectors match.

    Where a corrected class leaves none that matches, the pods still hold what they were given: every entry of the
    class is charged.
    """
    of_class = [
        entry
        for entry, device in enumerate(hardware.devices)
        if device.claim is ClaimKind.DRA and device.device_class == claim.device_class
    ]
    matching = [entry for entry in of_class if matches(claim.selectors, hardware.devices[entry])]
    return matching or of_class


def demand(claims: tuple[Claim, ...], hardware: Hardware) -> Demand:
    """Return what one pod with these claims takes of each entry of the hardware."""
    surely, at_most = [0] * len(hardware.counts), [0] * len(hardware.counts)
    for claim in claims:
        entries = _entries(claim, hardware)
        for entry in entries:
            at_most[entry] += claim.count
            surely[entry] += claim.count if len(entries) == 1 else 0
    return tuple(
        (min(sure, count), min(most, count)) for sure, most, count in zip(surely, at_most, hardware.counts, strict=True)
    )


def group(pods: tuple[tuple[tuple[Claim, ...], int], ...], hardware: Hardware) -> Group:
    """Return the group that pods (their claims, how many) form; () when they take nothing of the hardware."""
    counted: dict[Demand, int] = {}
    for claims, many in pods:
        taken = demand(claims, hardware) if claims and many > 0 else ()
        if any(most for _, most in taken):
            counted[taken] = counted.get(taken, 0) + many
    return tuple(sorted(counted.items()))


@lru_cache(maxsize=CACHE_SIZE)
def engine_group(engine: StampedEngine, pool: str, hardware: Hardware) -> Group:
    """Return the group of the engine's claiming pods on the pool of that name."""
    copies = engine.copies
    return group(tuple((m.claims, m.pods * copies) for m in engine.members if m.pool == pool), hardware)
