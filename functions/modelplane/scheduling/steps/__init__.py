"""The steps of a scheduling pass, each in a module of its own; `decision` has them in order."""

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
