"""Reads one value of a Secret that the composite names."""

from modelplane.composing import requirements as require
from modelplane.observed.fields import mapping
from modelplane.step import Object, Request
from modelplane.step.sealed import Sealed
from modelplane.step.secrets import MOST_KEYS


def read_value(request: Request, name: str, key: str) -> Sealed | None:
    """Return the value of a key in a Secret of the composite's namespace, None without one."""
    found = request.one(require.source("Secret", name, request.composite.namespace))
    value = mapping(found.body.get("data")).get(key) if isinstance(found, Object) else None
    return value if isinstance(value, Sealed) else None


def lacking(request: Request, name: str, key: str) -> str:
    """Return in which words a Secret lacks a value under a key."""
    found = request.one(require.source("Secret", name, request.composite.namespace))
    if not isinstance(found, Object):
        return f"does not exist; it is needed with key {key}"
    if not mapping(found.body.get("data")):
        return f"has no readable value under key {key} (Secrets with more than {MOST_KEYS} keys are not read)"
    return f"has no value under key {key}"
