"""All ways in which an engine's members could take devices of a pool, by trying every entry for every request.

Rules: a request takes `count` devices of one entry that satisfies all its selectors; requests share an entry while
its count lasts. An entry cannot be claimed while the selectors fail with an error on a claimable device of the same
class in that pool. Synthetic entries match and are never claimed. All members of an engine are on one pool, at least
one of them claims, and none that could claim on some pool of the cluster goes without.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from modelplane.model.deployment import Engine, Member
from modelplane.model.fleet import ClaimKind, Pool
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from property.oracles.selectors import Answer, answer

Claims = tuple[Claim, ...]


def member_claims(pool: Pool, member: Member) -> list[Claims]:
    """Return what the member could claim in the pool, one item per distinct way; [] where it does not fit."""
    found: list[Claims] = []
    for choice in product(range(len(pool.devices)), repeat=len(member.requests)):
        taken: Counter[int] = Counter()
        for entry, request in zip(choice, member.requests, strict=True):
            taken[entry] += request.count
        if any(count > pool.devices[entry].count for entry, count in taken.items()):
            continue
        if not all(_takes(pool, e, r.selectors) for e, r in zip(choice, member.requests, strict=True)):
            continue
        claims = tuple(
            Claim(request.name, pool.devices[entry].device_class or "", request.count, request.selectors)
            for entry, request in zip(choice, member.requests, strict=True)
            if pool.devices[entry].claim is ClaimKind.DRA
        )
        if claims not in found:
            found.append(claims)
    return found


def _takes(pool: Pool, entry: int, selectors: Sequence[str]) -> bool:
    device = pool.devices[entry]
    if answer(selectors, device) is not Answer.YES:
        return False
    return device.claim is ClaimKind.SYNTHETIC or not any(
        other.claim is ClaimKind.DRA
        and other.device_class == device.device_class
        and answer(selectors, other) is Answer.ERROR
        for other in pool.devices
    )


def engine_ways(pools: Sequence[Pool], pool: Pool, engine: Engine) -> Iterator[StampedEngine]:
    """Yield every way the engine could be stamped on `pool`, one of the cluster's `pools`; room is not looked at."""
    options = []
    for member in engine.members:
        could_claim = any(claims for other in pools for claims in member_claims(other, member))
        options.append([claims for claims in member_claims(pool, member) if claims or not could_claim])
    for chosen in product(*options):
        if any(chosen):
            yield StampedEngine(
                engine.name,
                tuple(
                    StampedMember(member.role, pool.name, member.pods, claims)
                    for member, claims in zip(engine.members, chosen, strict=True)
                ),
                engine.copies,
            )
