"""Fleet scheduling: one pure entry, `schedule`, over the values of `modelplane.model`."""

from modelplane.scheduling.room import DeviceRoom, PoolRoom, capacity
from modelplane.scheduling.steps import drain, schedule
from modelplane.scheduling.words import Counted, Report, explain, word_edit, word_no_room

__all__ = [
    "Counted",
    "DeviceRoom",
    "PoolRoom",
    "Report",
    "capacity",
    "drain",
    "explain",
    "schedule",
    "word_edit",
    "word_no_room",
]
