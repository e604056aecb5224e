"""The published rule of room, as slow exact arithmetic.

Rule: a pool has N nodes with D_i devices of entry i each. A group is the claiming pods of one engine of one replica,
all copies. A stamped request charges every entry of its class that it matches. For a demand d, w_i is the smallest
sum between D_i - d_i + 1 and D_i that pods of other groups, at most one of a group, can form; a pod of another group
weighs the largest of min(1, p_i / w_i); blocked is the largest b <= N for which the b heaviest weights of each group
add up to b or more. There is room iff for every group and every demand in it, N - blocked >= the group's pods.

Two readings make it sound where entries of a class overlap. Charges and demands count at most D_i, for a node cannot
lose more of an entry than it has. And a request that matches several entries may take any part of its count from one
of them, so that on each it forms every sum up to its count.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from modelplane.model.fleet import ClaimKind, Device, Pool
from modelplane.model.replica import Claim, Replica, StampedEngine
from property.oracles.matching import Claims
from property.oracles.selectors import Answer, answer

Group = tuple[Claims, ...]
#: Of each entry: the devices that a pod takes for sure, and the most that it can take.
Charge = tuple[tuple[int, int], ...]


def engine_group(engine: StampedEngine) -> Group:
    """Return the claims of each claiming pod of the engine."""
    return tuple(
        member.claims for member in engine.members if member.claims for _ in range(member.pods * engine.copies)
    )


def groups_on(cluster: str, pool: str, replicas: Iterable[Replica]) -> list[Group]:
    """Return the groups that replicas hold in a pool of a cluster."""
    groups = [
        engine_group(engine)
        for replica in replicas
        if replica.cluster == cluster
        for engine in replica.engines
        if engine.pool == pool
    ]
    return [group for group in groups if group]


def charge(pool: Pool, claims: Claims) -> Charge:
    """Return what one pod charges of each entry."""
    matches = [[_matches(claim, device) for device in pool.devices] for claim in claims]
    return tuple(
        (
            min(device.count, sum(c.count for c, on in zip(claims, matches, strict=True) if on[i] and sum(on) == 1)),
            min(device.count, sum(c.count for c, on in zip(claims, matches, strict=True) if on[i])),
        )
        for i, device in enumerate(pool.devices)
    )


def _matches(claim: Claim, device: Device) -> bool:
    return (
        device.claim is ClaimKind.DRA
        and claim.device_class == device.device_class
        and answer(claim.selectors, device) is Answer.YES
    )


def blocked(pool: Pool, demand: Charge, others: Sequence[Sequence[Charge]]) -> int:
    """Return how many nodes the pods of the other groups could block for a pod of this demand, by the rule."""
    least = [_least_blocking(device.count, demand[i][1], i, others) for i, device in enumerate(pool.devices)]
    weights = [sorted((_weight(pod, least) for pod in group), reverse=True) for group in others]
    return max(
        b for b in range(pool.nodes + 1) if sum((sum(group[:b], Fraction(0)) for group in weights), Fraction(0)) >= b
    )


def _least_blocking(count: int, demand: int, entry: int, others: Sequence[Sequence[Charge]]) -> int | None:
    sums = {0}
    for group in others:
        sums |= {s + part for s in sums for pod in group for part in range(pod[entry][0], pod[entry][1] + 1)}
    return min((total for total in sums if max(1, count - demand + 1) <= total <= count), default=None)


def _weight(pod: Charge, least: Sequence[int | None]) -> Fraction:
    return max(
        (min(Fraction(1), Fraction(taken, w)) for (_, taken), w in zip(pod, least, strict=True) if w),
        default=Fraction(0),
    )


def has_room(pool: Pool, groups: Sequence[Group]) -> bool:
    """Tell whether the rule finds room for all groups together in the pool."""
    charges = [[charge(pool, pod) for pod in group] for group in groups]
    return all(
        pool.nodes - blocked(pool, demand, charges[:own] + charges[own + 1 :]) >= len(group)
        for own, group in enumerate(charges)
        for demand in set(group)
    )
