"""What the replicas of a cluster take of its pools, and whether there is room for more.

| question | module |
|---|---|
| What do replicas take? | `ledger`; `compose_cluster.commitments` publishes it, in the text of `charge` |
| Is there room? | `room`, exactly by `blocking`, for many groups by `rounding` |
| On which pools do engines fit together? | `search`, `hosting`, `beside` |
| Who gets room first? | `precedence`; `by_hand` for replicas that a user wrote |
| Does an edit take more? | `growth` |
| How much is free? | `free_room` for tables, `lacking` for refusals |
"""

from modelplane.scheduling.room.blocking import Shortage
from modelplane.scheduling.room.by_hand import find_closed, find_misfit, find_no_room, has_to_fit, holding
from modelplane.scheduling.room.charge import (
    MOST_PUBLISHED,
    can_claim,
    entries_of,
    read_charge,
    write_charge,
    write_groups,
)
from modelplane.scheduling.room.free_room import DeviceRoom, PoolRoom, capacity
from modelplane.scheduling.room.growth import grows
from modelplane.scheduling.room.hosting import with_placed
from modelplane.scheduling.room.ledger import Engines, Ledger, charge_of, charges, holders_of, identity
from modelplane.scheduling.room.precedence import crowded_out, seniority, yielding
from modelplane.scheduling.room.room import has_room, shortage_of
from modelplane.scheduling.room.search import Assignment, Fits, assign, fits_in_order

__all__ = [
    "MOST_PUBLISHED",
    "Assignment",
    "DeviceRoom",
    "Engines",
    "Fits",
    "Ledger",
    "PoolRoom",
    "Shortage",
    "assign",
    "can_claim",
    "capacity",
    "charge_of",
    "charges",
    "crowded_out",
    "entries_of",
    "find_closed",
    "find_misfit",
    "find_no_room",
    "fits_in_order",
    "grows",
    "has_room",
    "has_to_fit",
    "holders_of",
    "holding",
    "identity",
    "read_charge",
    "seniority",
    "shortage_of",
    "with_placed",
    "write_charge",
    "write_groups",
    "yielding",
]
