"""Reads the status of a ModelService."""

from typing import Final

from modelplane.observed.fields import mapping, text
from modelplane.step import Object

#: The value of `status.keys` for a service without keys.
OPEN: Final = "open"


def is_open(service: Object) -> bool:
    """Tell whether a service takes requests without a key."""
    status = mapping(service.body.get("status"))
    return status.get("keys") == OPEN and bool(text(status.get("address")))
