"""The states of an input: not fetched yet, fetched and absent, malformed, or present (its value)."""

from dataclasses import dataclass
from enum import Enum


class Gap(Enum):
    """Why there is no value: `NOT_FETCHED` (ask for it) or `ABSENT` (asked, and it does not exist)."""

    NOT_FETCHED = "not fetched"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Malformed:
    """An object that exists but cannot be read: `field` is its path, `why` names the value and the remedy.

    `section` is the field of the spec that `field` is in, "" where that is not told.
    """

    kind: str
    name: str
    field: str
    why: str
    section: str = ""

    def __str__(self) -> str:
        """Return one line for a condition's message."""
        return f"{self.kind} {self.name}: {self.field}: {self.why}"
