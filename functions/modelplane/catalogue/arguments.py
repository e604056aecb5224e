"""The arguments of a short profile's engine, and the flags that are added to them where they are not given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.catalogue.flags import Given, find_flag
from modelplane.catalogue.profile import InvalidProfileError


@dataclass(frozen=True, slots=True)
class Weights:
    """What an engine loads, the name that it serves it under, and the revision, "" for none.

    `said` is the field that says what to load, with its value; "" where a flag may name something else.
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
        """Return the refusal of a flag that contradicts a field, which is given with its value."""
        return self.refuse("engine.args", f"{given} contradicts {said}; remove one, or make them equal")

    def number(self, names: Sequence[str], field: str, stated: int | None) -> int | None:
        """Return the number of a flag: the given one, which must agree with the stated one, else the stated one."""
        given = find_flag(self.args, names)
        if given is None:
            return stated
        if not given.value.isdecimal():
            raise self.refuse("engine.args", f"{given} is no whole number")
        if stated is not None and int(given.value) != stated:
            raise self.contradicts(given, f"{field}: {stated}")
        return int(given.value)

    def add(self, names: Sequence[str], value: object) -> list[str]:
        """Return the flag with a value, nothing where it is given or there is no value."""
        return [] if value in (None, "") or find_flag(self.args, names) else [f"{names[0]}={value}"]

    def switch(self, names: Sequence[str]) -> list[str]:
        """Return a flag without value, nothing where it is given."""
        return [] if find_flag(self.args, names) else [names[0]]
