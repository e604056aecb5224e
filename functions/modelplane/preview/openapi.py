"""OpenAPI of our kinds as an API server applies it: nulls, defaults, unknown fields, bounds, unique keys of lists."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from math import isfinite
from typing import Any

import jsonschema_rs

from modelplane.preview.fault import Fault, field_path, word_error

Schema = dict[str, Any]
Path = tuple[str | int, ...]

#: Numbers from here on have an exponent in JSON as Go writes it.
_EXPONENT_FROM = 1e21

TEXT: Schema = {"type": "string"}
NAMED_SELECTOR: Schema = {
    "type": "object",
    "required": ["matchLabels"],
    "properties": {"matchLabels": {"type": "object", "additionalProperties": TEXT}},
}
NAMED_REFERENCE: Schema = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
CONDITIONS: Schema = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["lastTransitionTime", "reason", "status", "type"],
        "properties": {
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            **dict.fromkeys(("message", "reason", "status", "type"), TEXT),
            "observedGeneration": {"type": "integer"},
        },
    },
}


def served_schema(xrd: dict[str, Any]) -> Schema:
    """Return the schema that a server enforces for an XRD's kind: what survives of the XRD's, and Crossplane's own.

    Metadata is left open; it is checked apart.
    """
    own = xrd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec, status = (own["properties"].get(name, {"type": "object"}) for name in ("spec", "status"))
    return {
        "type": "object",
        "required": ["spec"],
        "x-kubernetes-validations": own.get("x-kubernetes-validations", []),
        "properties": {
            "apiVersion": TEXT,
            "kind": TEXT,
            "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "spec": {
                **spec,
                "properties": {**spec.get("properties", {}), "crossplane": _machinery(xrd["spec"]["scope"])},
            },
            "status": {**status, "properties": {**status.get("properties", {}), "conditions": CONDITIONS}},
        },
    }


def _machinery(scope: str) -> Schema:
    names = ("apiVersion", "kind", "name") if scope == "Namespaced" else ("apiVersion", "kind", "name", "namespace")
    references = {"type": "object", "required": ["apiVersion", "kind"], "properties": dict.fromkeys(names, TEXT)}
    return {
        "type": "object",
        "properties": {
            "compositionRef": NAMED_REFERENCE,
            "compositionSelector": NAMED_SELECTOR,
            "compositionRevisionRef": NAMED_REFERENCE,
            "compositionRevisionSelector": NAMED_SELECTOR,
            "compositionUpdatePolicy": {"type": "string", "enum": ["Automatic", "Manual"]},
            "resourceRefs": {"type": "array", "items": references},
        },
    }


def validator(schema: Schema) -> jsonschema_rs.Draft202012Validator:
    """Return a compiled validator of a served schema's types and bounds."""
    return jsonschema_rs.Draft202012Validator(_plain(schema), validate_formats=True)


def _plain(schema: Schema) -> Schema:
    """Return the schema as plain JSON Schema: what Kubernetes adds to it expressed or left out."""
    plain = {k: v for k, v in schema.items() if not k.startswith("x-kubernetes-") and k not in ("default", "nullable")}
    if "properties" in schema:
        plain["properties"] = {key: _plain(value) for key, value in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            plain[key] = _plain(schema[key])
    if schema.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if schema.get("nullable"):
        plain["type"] = [*(plain["type"] if isinstance(plain["type"], list) else [plain["type"]]), "null"]
    return plain


class NotJsonError(TypeError):
    """A value that JSON cannot express, at `field`. The text names its type, never the value: it may be secret."""

    def __init__(self, path: Path, what: str) -> None:
        self.field = field_path(path)
        super().__init__(f"{what} is not a JSON value")


def plain(value: Any, path: Path = ()) -> Any:
    """Return a deep copy that holds JSON values only: times, which YAML makes of some texts, become texts again.

    Raises NotJsonError for what JSON cannot express.
    """
    if isinstance(value, dict):
        return {plain(str(key), path): plain(item, (*path, str(key))) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, (*path, at)) for at, item in enumerate(value)]
    return _leaf(value, path)


def _leaf(value: Any, path: Path) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and not _is_unicode(value):
        raise NotJsonError(path, "a lone surrogate (half a character)")
    if isinstance(value, float):
        return _number(value, path)
    if value is None or isinstance(value, int | str):
        return str(value) if isinstance(value, str) else value
    raise NotJsonError(path, type(value).__name__)


def _number(value: float, path: Path) -> int | float:
    """Return a number as kubectl sends it: `2.0` is `2`, for Go writes no fraction that is zero below 1e21."""
    if not isfinite(value):
        raise NotJsonError(path, str(value))
    return int(value) if value.is_integer() and abs(value) < _EXPONENT_FROM else value


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be written at all; JSON's escapes can spell half a character."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def complete(value: Any, schema: Schema, faults: list[Fault], path: Path = ()) -> Any:
    """Return `value` with nulls pruned and defaults filled in; append what strict validation finds.

    Found here are unknown fields (which are left out of the result) and repeated keys of list-maps.
    """
    if isinstance(value, dict) and schema.get("type") == "object":
        return _complete_object(value, schema, faults, path)
    if isinstance(value, list) and "items" in schema:
        items = [complete(item, schema["items"], faults, (*path, i)) for i, item in enumerate(value)]
        if schema.get("x-kubernetes-list-type") == "map":
            faults.extend(_repeated(items, schema["x-kubernetes-list-map-keys"], path))
        return items
    return value


def _complete_object(value: dict[str, Any], schema: Schema, faults: list[Fault], path: Path) -> dict[str, Any]:
    properties: Schema = schema.get("properties", {})
    others = schema.get("additionalProperties")
    result = {}
    for key, item in value.items():
        child = properties.get(key, others)
        if isinstance(child, dict):
            if item is not None or child.get("nullable"):
                result[key] = complete(item, child, faults, (*path, key))
        elif schema.get("x-kubernetes-preserve-unknown-fields"):
            result[key] = item
        else:
            faults.append(Fault(field_path((*path, key)), f'unknown field: "{key}"'))
    for key, child in properties.items():
        if key not in result and "default" in child:
            result[key] = complete(child["default"], child, faults, (*path, key))
    return result


def _repeated(items: list[Any], keys: list[str], path: Path) -> Iterator[Fault]:
    seen: Counter[str] = Counter()
    for i, item in enumerate(items):
        identity = json.dumps({key: item.get(key) for key in keys} if isinstance(item, dict) else item, default=str)
        seen[identity] += 1
        if seen[identity] == 2:
            yield Fault(field_path((*path, i)), f"Duplicate value: {identity}", repeated=True)


def breaches(
    checker: jsonschema_rs.Draft202012Validator, value: Any, is_forgiven: Callable[[str, Path], bool]
) -> list[Fault]:
    """Return the types and bounds that a completed value breaks, sorted by field.

    `is_forgiven` tells of a keyword of the schema, and the path of the value that breaks it, whether that is no fault.
    """
    errors = (
        error for error in checker.iter_errors(value) if not is_forgiven(error.kind.name, tuple(error.instance_path))
    )
    return sorted(map(word_error, errors), key=lambda fault: (fault.field, fault.why))
