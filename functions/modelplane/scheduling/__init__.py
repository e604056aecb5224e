"""Fleet scheduling: one pure entry, `schedule`, over the values of `modelplane.model`."""

from modelplane.scheduling.capacity import DeviceRoom, PoolRoom, capacity
from modelplane.scheduling.decision import schedule
from modelplane.scheduling.drain import drain
from modelplane.scheduling.explain import Counted, Report, explain, word_edit
from modelplane.scheduling.waiting_edit import word_no_room

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
