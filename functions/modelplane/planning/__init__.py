"""What an edit or a drain would do: the offline control plane settles a snapshot of the fleet with and without it."""

from modelplane.planning.edits import Apply, Delete, Drain, Edit, Scale, UnknownObjectError
from modelplane.planning.events import Event, What
from modelplane.planning.plan import Contest, Plan, as_json, make_plan

__all__ = [
    "Apply",
    "Contest",
    "Delete",
    "Drain",
    "Edit",
    "Event",
    "Plan",
    "Scale",
    "UnknownObjectError",
    "What",
    "as_json",
    "make_plan",
]
