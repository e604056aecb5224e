"""The serving stack of a cluster: its parts, and what is installed of them in view of what is observed. Pure."""

from modelplane.stack.decision import decide
from modelplane.stack.observation import (
    Asked,
    Counts,
    Found,
    Origin,
    ReleaseState,
    StackObservation,
)
from modelplane.stack.parts import CHARTS, PARTS, Chart, Part, Workload
from modelplane.stack.verdict import Action, ChartVerdict, PartVerdict, State, Verdicts

__all__ = [
    "CHARTS",
    "PARTS",
    "Action",
    "Asked",
    "Chart",
    "ChartVerdict",
    "Counts",
    "Found",
    "Origin",
    "Part",
    "PartVerdict",
    "ReleaseState",
    "StackObservation",
    "State",
    "Verdicts",
    "Workload",
    "decide",
]
