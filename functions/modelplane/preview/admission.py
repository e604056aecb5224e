"""Admission of objects as an API server does it: defaulting, strict OpenAPI validation, and the rules of our XRDs.

Exception
└── InvalidObject   an object that a server would refuse
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema_rs

from modelplane.model.names import API_VERSION, GROUP, NAME_LIMIT
from modelplane.preview import openapi
from modelplane.preview.fault import Fault, field_path
from modelplane.preview.ratcheting import NARROWED, Correlation, is_forgiven
from modelplane.preview.rules import Ruled, broken_rules, find_rules
from modelplane.reading.definitions import xrds

Manifest = dict[str, Any]

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

#: Fields of ObjectMeta (meta/v1); strict validation refuses any other.
METADATA = frozenset(
    {"name", "generateName", "namespace", "labels", "annotations", "uid", "resourceVersion", "generation", "selfLink"}
    | {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}
    | {"finalizers", "ownerReferences", "managedFields"}
)
MOST_LISTED = 8


class InvalidObject(Exception):  # noqa: N818 - the name is a published interface
    """An object that a server would refuse.

    `object` says which (`kind namespace/name`), `field` is the path of its first fault and `why` what is wrong
    there; further faults, each with its field, are appended to `why`.
    """

    def __init__(self, obj: Any, field: str, why: str) -> None:
        self.object = _identity(obj)
        self.field = field
        self.why = why
        super().__init__(": ".join(part for part in (self.object, field, why) if part))


@dataclass(frozen=True, slots=True)
class Served:
    """A kind as a server serves it: its schema, compiled, and its rules."""

    namespaced: bool
    schema: Manifest
    validator: jsonschema_rs.Draft202012Validator
    rules: Ruled | None

    @classmethod
    def of(cls, schema: Manifest, *, namespaced: bool) -> "Served":
        """Return a kind with this schema (OpenAPI v3, structural)."""
        return cls(namespaced, schema, openapi.validator(schema), find_rules(schema))

    def faults(self, obj: Manifest, stored: Mapping[str, Any] | None, found: list[Fault]) -> list[Fault]:
        """Return all faults of a completed object: those `found` while it was completed, then those of the schema."""
        faults = found
        if stored is not None and any(fault.repeated for fault in found) and self._repeats(stored):
            faults = [fault for fault in found if not fault.repeated]
        correlation = Correlation.of_new(obj) if stored is None else Correlation(obj, stored, self.schema)
        was_read = stored is None and bool(obj["metadata"].get("uid"))

        def is_no_fault(keyword: str, path: openapi.Path) -> bool:
            return keyword in NARROWED if was_read else is_forgiven(path, correlation)

        faults = [*faults, *openapi.breaches(self.validator, obj, is_no_fault)]
        if self.rules and not any(fault.blocking for fault in faults):
            faults += broken_rules(self.rules, obj, correlation, but_bounds=was_read)
        return faults

    def _repeats(self, stored: Mapping[str, Any]) -> bool:
        """Tell whether the stored object already has list entries with the same keys."""
        found: list[Fault] = []
        openapi.complete(stored, self.schema, found)
        return any(fault.repeated for fault in found)


def admit(obj: Manifest, stored: Mapping[str, Any] | None = None) -> Manifest:
    """Return a copy of `obj` as a server would store it. Raises InvalidObject.

    Our kinds are defaulted and validated strictly (unknown fields are refused, as kubectl asks for), status included.
    A namespaced one without a namespace goes to `default`, as kubectl sends it. Other kinds are stored as they are.
    `stored` is the version that the server holds, None for a new object: unchanged values are not refused again. A new
    object with a uid was read from a server, perhaps with an earlier version of the definition, so it is not checked
    against bounds that a version may narrow.
    """
    return validate(identify(obj), stored)


def identify(obj: Any) -> Manifest:
    """Return a copy in plain JSON of an object that has an apiVersion, a kind and a name. Raises InvalidObject."""
    try:
        plain: Manifest = openapi.plain(obj)
    except openapi.NotJsonError as error:
        raise _refusal(obj, [Fault(error.field, str(error))]) from error
    if faults := list(_identity_faults(plain)):
        raise _refusal(plain, faults)
    return plain


def validate(obj: Manifest, stored: Mapping[str, Any] | None = None) -> Manifest:
    """Do as `admit` for an object in plain JSON that has an identity. Raises InvalidObject."""
    group, _, _ = obj["apiVersion"].rpartition("/")
    if group != GROUP:
        return obj
    kind = _kinds().get(obj["kind"])
    if kind is None:
        raise _refusal(obj, [Fault("kind", f"no kind {obj['kind']} in {GROUP}; there are {', '.join(_kinds())}")])
    if obj["apiVersion"] != API_VERSION:
        raise _refusal(obj, [Fault("apiVersion", f"{obj['apiVersion']} is not served; use {API_VERSION}")])
    found = list(_metadata_faults(obj["metadata"]))
    result: Manifest = openapi.complete(obj, kind.schema, found)
    if kind.namespaced:
        result["metadata"].setdefault("namespace", "default")
    else:
        result["metadata"].pop("namespace", None)
    if faults := kind.faults(result, stored, found):
        raise _refusal(obj, faults)
    return result


@cache
def _kinds() -> Mapping[str, Served]:
    return {
        name: Served.of(openapi.served_schema(xrd), namespaced=xrd["spec"]["scope"] == "Namespaced")
        for name, xrd in xrds().items()
    }


def _identity_faults(obj: Any) -> Iterator[Fault]:
    if not isinstance(obj, dict):
        yield Fault("", f"not an object but {type(obj).__name__}")
        return
    for field in ("apiVersion", "kind"):
        if not isinstance(obj.get(field), str) or not obj[field]:
            yield Fault(field, "Required value")
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") in (None, ""):
        yield Fault("metadata.name", "Required value: a preview generates no names")
    elif not isinstance(metadata["name"], str):
        found = json.dumps(metadata["name"], default=str)
        yield Fault(
            "metadata.name", f"Invalid value: {found}: must be of type string, which a number is in quotes only"
        )
    elif not isinstance(metadata.get("finalizers") or [], list):
        yield Fault("metadata.finalizers", "must be of type array")
    elif not isinstance(metadata.get("namespace") or "", str):
        yield Fault("metadata.namespace", "must be of type string")


def _metadata_faults(metadata: Manifest) -> Iterator[Fault]:
    """Yield the faults of an own kind's metadata: Kubernetes' rules, and Crossplane's limit of 63 characters."""
    for key in metadata:
        if key not in METADATA:
            yield Fault(field_path(("metadata", str(key))), f'unknown field: "{key}"')
    if len(metadata["name"]) > NAME_LIMIT:
        yield Fault("metadata.name", f"Too long: may not be more than {NAME_LIMIT} bytes", blocking=True)
    if not SUBDOMAIN.fullmatch(metadata["name"]):
        yield Fault("metadata.name", f"Invalid value: {metadata['name']!r}: a lowercase RFC 1123 subdomain is needed")
    namespace = metadata.get("namespace")
    if namespace is not None and not (isinstance(namespace, str) and LABEL.fullmatch(namespace)):
        yield Fault("metadata.namespace", f"Invalid value: {namespace!r}: a lowercase RFC 1123 label is needed")
    for field in ("labels", "annotations"):
        yield from _text_faults(field, metadata.get(field))


def _text_faults(field: str, texts: Any) -> Iterator[Fault]:
    if texts is None:
        return
    if not isinstance(texts, dict):
        yield Fault(f"metadata.{field}", "Invalid value: must be of type object", blocking=True)
        return
    for key, value in texts.items():
        path = field_path(("metadata", field, str(key)))
        if not isinstance(value, str):
            yield Fault(path, f"Invalid value: {value!r}: must be of type string; put it in quotes", blocking=True)
        elif field == "labels" and not LABEL_VALUE.fullmatch(value):
            yield Fault(path, f"Invalid value: {value!r}: not a label value")
        if not QUALIFIED.fullmatch(str(key) if field == "labels" else str(key).lower()):
            yield Fault(path, f"Invalid value: {key!r}: not a qualified name")


def _refusal(obj: Any, faults: list[Fault]) -> InvalidObject:
    first, *others = faults
    listed = [f"{fault.field}: {fault.why}" for fault in others[:MOST_LISTED]]
    if len(others) > MOST_LISTED:
        listed.append(f"and {len(others) - MOST_LISTED} more")
    return InvalidObject(obj, first.field, "; ".join([first.why, *listed]))


def _identity(obj: Any) -> str:
    if not isinstance(obj, dict):
        return "object"
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
    return f"{obj.get('kind') or 'object'} {name or '(no name)'}"
