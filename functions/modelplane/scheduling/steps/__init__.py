"""The steps of a scheduling pass, each in a module of its own; `decision` has them in order.

| question | module |
|---|---|
| Why may a replica end? | `endings`; who starts to leave `retain`, how one goes `draining` |
| How many replicas may a rollout change at once? | `model.rollout`, the budgets; `rollout`, who changes within them |
| How is one changed? | `replacement`, by surge; `in_place` |
| Where is a new one placed? | `fill`, by the order of `rank`; `shortlist` says which clusters are read for it |
| Who gives way? | `yielding`; `crowding` for pools that have become too small |
"""

from modelplane.scheduling.steps.decision import STEPS, schedule
from modelplane.scheduling.steps.draining import drain
from modelplane.scheduling.steps.freeing import find_freed, place_beside

__all__ = [
    "STEPS",
    "drain",
    "find_freed",
    "place_beside",
    "schedule",
]
