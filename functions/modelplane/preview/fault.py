"""A fault in one field of an object, worded like an API server's message."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

#: A server's message for each bound; {0} is the bound.
_WORDS = {
    "minimum": "should be greater than or equal to {0}",
    "maximum": "should be less than or equal to {0}",
    "minLength": "should be at least {0} chars long",
    "minItems": "should have at least {0} items",
    "minProperties": "should have at least {0} properties",
    "pattern": "should match '{0}'",
    "format": "must be of type {0}",
}
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


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
    """Return keys and indices as a path, `spec.engines[0].name`; keys with dots or slashes are put in brackets."""
    path = ""
    for part in parts:
        if isinstance(part, int) or not _PLAIN_KEY.fullmatch(part):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def word_error(error: jsonschema_rs.ValidationError) -> Fault:
    """Return the fault for a type or bound that a value breaks."""
    name: str = error.kind.name
    bound: Any = error.kind.value
    value: Any = error.instance
    field = field_path(error.instance_path)
    if name == "required":
        return Fault(field_path((*error.instance_path, bound)), "Required value", blocking=True)
    if name == "enum":
        supported = ", ".join(json.dumps(item) for item in bound)
        return Fault(field, f"Unsupported value: {json.dumps(value)}: supported values: {supported}", blocking=True)
    if name == "type":
        return Fault(field, f"Invalid value: {_shown(value)}: must be of type {' or '.join(bound)}", blocking=True)
    if name == "maxLength":
        return Fault(field, f"Too long: may not be more than {bound} bytes", blocking=True)
    if name in ("maxItems", "maxProperties"):
        return Fault(field, f"Too many: {len(value)}: must have at most {bound} items", blocking=True)
    words = _WORDS[name].format(bound) if name in _WORDS else error.message
    return Fault(field, f"Invalid value: {_shown(value)}: {words}")


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
