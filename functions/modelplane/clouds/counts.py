"""Node counts of pools: totals over all zones, as `spec.nodePools` has them, and what replicas hold of them."""

from dataclasses import dataclass

from modelplane.clouds.cloud import AskedPool


@dataclass(frozen=True, slots=True)
class Counts:
    """Nodes over all zones. A pool that is not scaled automatically is `fixed`: then all three are equal."""

    least: int
    start: int
    most: int
    fixed: bool


def counts_of(pool: AskedPool) -> Counts:
    """Return the counts that are asked for.

    Without maxNodeCount a pool is fixed. Its size is nodeCount, else minNodeCount, else 1. Beside maxNodeCount the
    least is minNodeCount, else 1, and never more than the most.
    """
    if pool.most is None:
        size = next((each for each in (pool.node_count, pool.least) if each is not None), 1)
        return Counts(size, size, size, fixed=True)
    least = min(1 if pool.least is None else pool.least, pool.most)
    start = least if pool.node_count is None else min(max(pool.node_count, least), pool.most)
    return Counts(least, start, pool.most, fixed=False)


def per_zone(total: int, zones: int) -> int:
    """Return the nodes of each zone, at least as many as make the total together."""
    return -(-total // max(zones, 1))


def published(pool: AskedPool) -> int:
    """Return the nodes on which replicas are placed: the most that is asked for, and never fewer than are held."""
    return max(counts_of(pool).most, pool.held.nodes)
