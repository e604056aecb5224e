"""All objects of a kind: in pages, from one point in time, and with what is not known where they may not be listed."""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, urlencode

from modelplane.live.errors import ServerError
from modelplane.live.server import Watchable

#: Objects of a page.
PAGE: Final = 500
#: How often a list that expired between two pages is begun again.
_ATTEMPTS: Final = 5


class Rights(StrEnum):
    """Whether a kind can be listed. `ABSENT`: the API server does not have it."""

    THERE = "There"
    ABSENT = "Absent"
    NOT_ALLOWED = "NotAllowed"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the API server has it; `plural` is its name in paths."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of all objects, of those of a namespace, or of one object."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        within = f"/namespaces/{quote(namespace, safe='')}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


@dataclass(frozen=True, slots=True)
class Listing:
    """The objects of a kind, of one namespace or ("") of all, at a resource version; `why` they may not be listed."""

    resource: Resource
    namespace: str
    rights: Rights
    objects: tuple[Mapping[str, Any], ...] = ()
    version: str = ""
    why: str = ""


def list_objects(server: Watchable, resource: Resource, namespace: str = "") -> Listing:
    """Return the objects of a kind in a namespace, "" for all. Raises LiveError for what is no matter of rights."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _list(server, resource, namespace)
        except ServerError as error:
            if error.status == http.client.NOT_FOUND:
                return Listing(resource, namespace, Rights.ABSENT, why=str(error))
            if error.status == http.client.FORBIDDEN:
                return Listing(resource, namespace, Rights.NOT_ALLOWED, why=str(error))
            if error.status != http.client.GONE or attempt == _ATTEMPTS:
                raise
    raise AssertionError  # the last attempt returns or raises


def _list(server: Watchable, resource: Resource, namespace: str) -> Listing:
    found: list[Mapping[str, Any]] = []
    further = ""
    while True:
        asked = {"limit": str(PAGE)} | ({"continue": further} if further else {})
        page = server.get(f"{resource.path(namespace)}?{urlencode(asked)}")
        metadata = page.get("metadata") or {}
        # The objects of a list do not say their kind.
        named = {"apiVersion": resource.api_version, "kind": resource.kind}
        found += [{**named, **_without_managed_fields(each)} for each in page.get("items") or ()]
        further = metadata.get("continue") or ""
        if not further:
            return Listing(resource, namespace, Rights.THERE, tuple(found), metadata.get("resourceVersion") or "")


def _without_managed_fields(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object without what is half of it, and nobody reads."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
