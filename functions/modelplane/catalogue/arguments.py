"""The arguments of a short profile's engine, to which missing flags are added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.catalogue.flags import Given, find_flag
from modelplane.catalogue.profile import InvalidProfileError


@dataclass(frozen=True, slots=True)
class Weights:
    """The model that an engine loads, the name under which it serves it, and the revision, "" for none.

    `said` is the field that determines the model, with its value; "" if a flag may name another one.
    """

    model: str
    name: str
    revision: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a profile, and the flags to add. Raises InvalidProfileError where they disagree."""

    profile: Mapping[str, Any]
    args: Sequence[str]

    def refuse(self, field: str, why: str) -> InvalidProfileError:
        """Return the refusal of a field."""
        return InvalidProfileError(self.profile, field, why)

    def contradicts(self, given: Given, said: str) -> InvalidProfileError:
        """Return the refusal of a flag that contradicts a field; `said` is the field with its value."""
        return self.refuse("engine.args", f"{given} contradicts {said}; remove one, or make them equal")

    def number(self, names: Sequence[str], field: str, stated: int | None) -> int | None:
        """Return the number of a flag: the given one, which must equal the stated one, else the stated one."""
        given = find_flag(self.args, names)
        if given is None:
            return stated
        if not given.value.isdecimal():
            raise self.refuse("engine.args", f"{given} is no whole number")
        if stated is not None and int(given.value) != stated:
            raise self.contradicts(given, f"{field}: {stated}")
        return int(given.value)

    def add(self, names: Sequence[str], value: object) -> list[str]:
        """Return the flag with a value, [] if it is given or there is no value."""
        return [] if value in (None, "") or find_flag(self.args, names) else [f"{names[0]}={value}"]

    def switch(self, names: Sequence[str]) -> list[str]:
        """Return a flag without value, [] if it is given."""
        return [] if find_flag(self.args, names) else [names[0]]
