"""Lenient access to the fields of an observed object: a field of the wrong type reads as missing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modelplane.step import Object

#: The annotation that names a composed object within its composite.
RESOURCE_NAME: Final = "crossplane.io/composition-resource-name"
#: Most characters that are repeated of a cluster's message: it goes into conditions, which every pass reads.
EXCERPT: Final = 1024
#: dict comes first because checking it takes a tenth of checking the abstract class.
_MAPPING: Final = (dict, Mapping)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping unchanged, anything else as the empty mapping."""
    return value if isinstance(value, _MAPPING) else {}


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the items of a list that are mappings."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, _MAPPING))


def text(value: Any) -> str:
    """Return a string unchanged, anything else as the empty string."""
    return value if isinstance(value, str) else ""


def excerpt(value: Any) -> str:
    """Return the first `EXCERPT` characters of a string, whose length a cluster controls."""
    found = text(value)
    return found if len(found) <= EXCERPT else f"{found[: EXCERPT - 1]}…"


def texts(value: Any) -> Iterator[str]:
    """Yield the items of a list that are strings."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def number(value: Any, default: int) -> int:
    """Return an integer unchanged, anything else (also a boolean) as `default`."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def count(value: Any, default: int = 0) -> int:
    """Return a count: an integer that is not negative; null, negative and anything else read as `default` or 0."""
    return max(0, number(value, default))


def labels(obj: Object) -> dict[str, str]:
    """Return the object's labels."""
    return {key: value for key, value in mapping(obj.metadata.get("labels")).items() if isinstance(value, str)}


def deleting(obj: Object) -> bool:
    """Tell whether the object carries a deletionTimestamp."""
    return bool(obj.metadata.get("deletionTimestamp"))


def condition(obj: Object, kind: str) -> Mapping[str, Any]:
    """Return the condition of type `kind`, empty when the object has none."""
    for found in mappings(mapping(obj.body.get("status")).get("conditions")):
        if found.get("type") == kind:
            return found
    return {}


def is_true(obj: Object, kind: str) -> bool:
    """Tell whether the condition of type `kind` is True."""
    return condition(obj, kind).get("status") == "True"


def controller(obj: Object) -> str:
    """Return the uid of the controlling owner, "" when there is none."""
    for owner in mappings(obj.metadata.get("ownerReferences")):
        if owner.get("controller") is True:
            return text(owner.get("uid"))
    return ""


def is_controlled_by(obj: Object, api_version: str, kind: str) -> bool:
    """Tell whether the controlling owner is of a kind."""
    owners = mappings(obj.metadata.get("ownerReferences"))
    controllers = (owner for owner in owners if owner.get("controller") is True)
    return any((owner.get("apiVersion"), owner.get("kind")) == (api_version, kind) for owner in controllers)


def resource_name(obj: Object) -> str:
    """Return the composition resource name under which Crossplane composed the object, "" when there is none."""
    return text(mapping(obj.metadata.get("annotations")).get(RESOURCE_NAME))
