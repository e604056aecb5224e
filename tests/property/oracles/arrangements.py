"""Whether a cluster's own scheduler could arrange the other pods of a pool so that one is left without a node.

Rule: claiming pods of one engine of one replica sit on distinct nodes; a pod's request is given any devices of its
class that match, of one entry or of several; which pods stand on which node, and which devices they were given, is
not known. No such arrangement may leave a pod without a node that takes it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations, product

from modelplane.model.fleet import ClaimKind, Pool
from property.oracles.matching import Claims
from property.oracles.room import Group
from property.oracles.selectors import Answer, answer

Free = tuple[int, ...]
Kind = tuple[int, Claims]


def stranded(pool: Pool, groups: Sequence[Group]) -> tuple[int, Claims] | None:
    """Return a group (its index) and the claims of a pod of it that some arrangement strands, or None."""
    for index, group in enumerate(groups):
        for claims in set(group):
            if _can_be_stranded(pool, groups, index, claims):
                return index, claims
    return None


def _can_be_stranded(pool: Pool, groups: Sequence[Group], own: int, claims: Claims) -> bool:
    charge: Counter[Kind] = Counter((g, pod) for g, group in enumerate(groups) for pod in group)
    charge[own, claims] -= 1
    kinds = sorted((kind for kind, count in charge.items() if count), key=repr)
    sets = list(_blocking_sets(pool, kinds, own, claims))

    @cache
    def block(nodes: int, first: int, left: tuple[int, ...]) -> bool:
        if nodes == 0:
            return True
        for position in range(first, len(sets)):
            rest = list(left)
            for kind in sets[position]:
                rest[kind] -= 1
            if min(rest, default=0) >= 0 and block(nodes - 1, position, tuple(rest)):
                return True
        return False

    return block(pool.nodes, 0, tuple(charge[kind] for kind in kinds))


def _blocking_sets(pool: Pool, kinds: Sequence[Kind], own: int, claims: Claims) -> Iterator[tuple[int, ...]]:
    """Yield the smallest sets of pods, as positions in `kinds`, that can keep a pod with `claims` off a node."""
    full = tuple(device.count for device in pool.devices)
    found: list[set[int]] = []
    if not _left_over(pool, full, claims):
        found.append(set())
        yield ()
    for size in range(1, len({group for group, _ in kinds}) + 1):
        for chosen in combinations(range(len(kinds)), size):
            if len({kinds[k][0] for k in chosen}) < size or any(known <= set(chosen) for known in found):
                continue
            free = {full}
            for k in chosen:
                free = {left for before in free for left in _left_over(pool, before, kinds[k][1])}
            sibling = any(kinds[k][0] == own for k in chosen)
            if free and (sibling or any(not _left_over(pool, left, claims) for left in free)):
                found.append(set(chosen))
                yield chosen


@lru_cache(maxsize=50_000)
def _left_over(pool: Pool, free: Free, claims: Claims) -> frozenset[Free]:
    """Return every way the free devices of a node can look after a pod took its own; empty if it does not fit."""
    states = {free}
    for claim in claims:
        entries = [
            i
            for i, device in enumerate(pool.devices)
            if device.claim is ClaimKind.DRA
            and device.device_class == claim.device_class
            and answer(claim.selectors, device) is Answer.YES
        ]
        states = {after for state in states for after in _take(state, entries, claim.count)}
    return frozenset(states)


def _take(free: Free, entries: Sequence[int], count: int) -> Iterator[Free]:
    for amounts in product(*(range(min(free[entry], count) + 1) for entry in entries)):
        if sum(amounts) == count:
            left = list(free)
            for entry, amount in zip(entries, amounts, strict=True):
                left[entry] -= amount
            yield tuple(left)
