"""What a selector says about a device, and what is wrong with a selector that does not compile."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What a selector says about a device. An error is not a non-match: Kubernetes leaves the pod pending."""

    MATCH = "match"
    NO_MATCH = "no-match"
    ERROR = "runtime-error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one selector on one device; `why` is set with an error."""

    outcome: Outcome
    why: str | None = None


class SelectorError(Exception):
    """A selector that Kubernetes would refuse, or that this engine cannot evaluate as Kubernetes does.

    `line` and `column` are 1-based within the text; `why` names what is refused.
    """

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(line, column, why)
        self.line = line
        self.column = column
        self.why = why

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.why}"
