"""What of a node counts: a loss once it has lasted, a gain at once. Pure; the clock is an input."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from modelplane.inventory.nodes import NodeKey
from modelplane.model.inventory import PATIENCE, Inventory, NodeState


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered from one reading to the next.

    `counted` is what counts of each node. `losses` are the nodes that have less than that, and since when. `begun` is
    when nodes were first watched.
    """

    begun: int
    counted: Mapping[NodeKey, NodeState] = field(default_factory=dict)
    losses: Mapping[NodeKey, int] = field(default_factory=dict)


def settle(before: Remembered | None, seen: Mapping[NodeKey, NodeState], now: int) -> Remembered:
    """Return what counts after a reading; a node that is gone has nothing."""
    if before is None:
        return Remembered(now, dict(seen))
    counted: dict[NodeKey, NodeState] = {}
    losses: dict[NodeKey, int] = {}
    for key in sorted({*seen, *before.counted}):
        present, last = seen.get(key), before.counted.get(key)
        since = min(before.losses.get(key, now), now)
        if last is None or (present is not None and present.has_all_of(last)) or now - since >= PATIENCE:
            if present is not None:
                counted[key] = present
        else:
            counted[key], losses[key] = last, since
    return Remembered(min(before.begun, now), counted, losses)


def inventory_of(remembered: Remembered, uid: str, now: int) -> Inventory:
    """Return the inventory of a cluster with this uid, by pool."""
    groups: dict[str, dict[NodeState, int]] = {}
    for (pool, _), state in sorted(remembered.counted.items(), key=lambda each: each[0]):
        of_pool = groups.setdefault(pool, {})
        of_pool[state] = of_pool.get(state, 0) + 1
    found = {pool: tuple(of_pool.items()) for pool, of_pool in groups.items()}
    return Inventory(uid, now, now - remembered.begun >= PATIENCE, found)
