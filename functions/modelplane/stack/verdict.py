"""The verdict on each part and chart of a serving stack."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from modelplane.stack.observation import Origin
from modelplane.stack.parts import PARTS, Part


class Action(StrEnum):
    """What is composed of a chart: nothing, a Release that only observes, or one that installs and updates."""

    NONE = "None"
    OBSERVE = "Observe"
    INSTALL = "Install"


class State(StrEnum):
    """The state of a part, or of one of its charts."""

    UNKNOWN = "Unknown"
    WAITING = "Waiting"
    INSTALLING = "Installing"
    RUNNING = "Running"
    PRESENT = "Present"
    MISSING = "Missing"
    FAILED = "Failed"


#: States from the worst to the best: that of a part is the worst of its charts.
ORDER = (
    State.FAILED,
    State.MISSING,
    State.WAITING,
    State.INSTALLING,
    State.UNKNOWN,
    State.PRESENT,
    State.RUNNING,
)


@dataclass(frozen=True, slots=True)
class ChartVerdict:
    """The verdict on a chart. `runs`: its workloads do; None while that is not known."""

    action: Action
    state: State
    message: str = ""
    runs: bool | None = None


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """The verdict on a part: that of its charts together, and who has installed it, None while nobody has."""

    part: Part
    state: State
    message: str
    runs: bool | None
    origin: Origin | None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on a whole stack; `parts` has each part that is asked for or installed."""

    parts: tuple[PartVerdict, ...]
    charts: Mapping[str, ChartVerdict]

    @property
    def serves(self) -> bool | None:
        """Tell whether every part runs that engines need; None while it is not known of one and no other is missing."""
        needed = [verdict.runs for verdict in self.parts if PARTS[verdict.part].serves]
        return False if False in needed else None if None in needed else True
