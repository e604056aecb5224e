"""What is wrong with one field of an object, in the words an API server would use."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Fault:
    """`why` the value at `field` is refused. A `blocking` one leaves the object's rules unchecked, as on a server.

    `repeated`: an entry of a list has the keys of an earlier one.
    """

    field: str
    why: str
    blocking: bool = False
    repeated: bool = False


def field_path(parts: Iterable[str | int]) -> str:
    """Return keys and indices as a path, `spec.engines[0].name`; keys that hold dots or slashes stand in brackets."""
    path = ""
    for part in parts:
        if isinstance(part, int) or not PLAIN_KEY.fullmatch(part):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path
