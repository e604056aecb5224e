"""Reads what a ModelService publishes."""

from typing import Final

from modelplane.observed.fields import mapping, text
from modelplane.step import Object

#: What `status.keys` says of a service whose callers need none.
OPEN: Final = "open"


def is_open(service: Object) -> bool:
    """Tell whether a service takes requests, and without a key."""
    status = mapping(service.body.get("status"))
    return status.get("keys") == OPEN and bool(text(status.get("address")))
