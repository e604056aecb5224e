"""How many distinct groups the engines of a spec can form on pools, counted from what each request would be charged.

Rule: what a pod takes of a pool is what its claims charge of each entry, never more than a node has. What its requests
could be charged together does not depend on their order, so the sets of sums are built one request after the other;
whether the entries can be shared out so is not asked, which counts too many rather than too few.
"""

from collections.abc import Sequence
from itertools import product

from modelplane.model.deployment import Engine, Member
from modelplane.model.fleet import ClaimKind, Pool
from modelplane.model.replica import Claim
from property.oracles.room import Charge, charge
from property.oracles.selectors import Answer, answer


def _charges(pool: Pool, member: Member, most: int) -> set[Charge] | None:
    nothing = charge(pool, ())
    sums = {nothing}
    for request in member.requests:
        matching = [device for device in pool.devices if answer(request.selectors, device) is Answer.YES]
        one = {
            charge(pool, (Claim(request.name, device.device_class or "", request.count, request.selectors),))
            if device.claim is ClaimKind.DRA
            else nothing
            for device in matching
            if device.count >= request.count
        }
        sums = {
            tuple(
                (min(least + more, device.count), min(top + most_more, device.count))
                for (least, top), (more, most_more), device in zip(before, after, pool.devices, strict=True)
            )
            for before, after in product(sums, one)
        }
        if len(sums) > most:
            return None
    return sums


def distinct_groups(engine: Engine, pool: Pool, most: int) -> int | None:
    """Return at most how many distinct groups the engine can form on the pool; None for more than `most`."""
    found = 1
    for member in engine.members:
        charges = _charges(pool, member, most)
        if charges is None:
            return None
        found *= len(charges)
    return found if found <= most else None


def distinct_ways(engines: Sequence[Engine], pools: Sequence[Pool], most: int) -> int | None:
    """Return at most how many ways there are to put the engines on the pools that differ in some group."""
    found = 1
    for engine in engines:
        groups = [distinct_groups(engine, pool, most) for pool in pools]
        if None in groups:
            return None
        found *= sum(group or 0 for group in groups) or 1
    return found if found <= most else None
