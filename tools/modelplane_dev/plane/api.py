"""A small client of one API server: apply, read, patch and delete objects as JSON."""

import http.client
import json
import ssl
import time
import urllib.parse
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple

#: Seconds that one request may take: longer than an API server allows, so that its own timeout comes first.
PATIENCE = 90.0
#: How often a request is repeated, a second later, when the server asks for that or has timed out.
TRIES = 10

Manifest = dict[str, Any]


class Kind(NamedTuple):
    """A kind of object, as a manifest names it."""

    api_version: str
    kind: str


class ApiError(Exception):
    """The API server refused a request; `status` is the HTTP status, 0 if there was no response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(slots=True, weakref_slot=True)
class Api:
    """A client of the API server at `url`, with a bearer token."""

    url: str
    token: str
    trust: ssl.SSLContext
    _resources: dict[Kind, tuple[str, bool]] = field(default_factory=dict)
    _idle: deque[http.client.HTTPSConnection] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Close the connections when the client is garbage-collected."""
        weakref.finalize(self, _close, self._idle)

    def request(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        """Return the JSON of the response. Raises ApiError."""
        for _ in range(TRIES):
            try:
                return self._ask(method, path, body, content)
            except ApiError as error:
                if not _may_come_again(method, path, error.status):
                    raise
            time.sleep(1)
        return self._ask(method, path, body, content)

    def _ask(self, method: str, path: str, body: Any, content: str) -> Any:
        status, text = self._answer(method, path, None if body is None else json.dumps(body), content)
        if status >= HTTPStatus.BAD_REQUEST:
            raise ApiError(status, json.loads(text).get("message", text) if text.startswith("{") else text)
        return json.loads(text)

    def ready(self) -> bool:
        """Return whether the server reports that it is ready."""
        try:
            self.text("/readyz")
        except ApiError:
            return False
        return True

    def text(self, path: str) -> str:
        """Return the response at a path as text. Raises ApiError."""
        status, text = self._answer("GET", path, None, "application/json")
        if status >= HTTPStatus.BAD_REQUEST:
            raise ApiError(status, text)
        return text

    def _answer(self, method: str, path: str, body: str | None, content: str) -> tuple[int, str]:
        """Return status and text of a response. Raises ApiError if there is none.

        Connections stay open: opening one costs the server three times as much as responding.
        """
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connection()
        old = connection.sock is not None
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content, "Accept": "application/json"}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = answer.status, answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if old and isinstance(error, ConnectionError | ssl.SSLError):
                # The server has closed the connection since its last request, or has restarted.
                return self._answer(method, path, body, content)
            raise ApiError(0, str(error)) from error
        self._idle.append(connection)
        return found

    def _connection(self) -> http.client.HTTPSConnection:
        address = urllib.parse.urlsplit(self.url)
        return http.client.HTTPSConnection(address.hostname or "", address.port, timeout=PATIENCE, context=self.trust)

    def apply(self, manifest: Mapping[str, Any]) -> Manifest:
        """Apply a manifest as `kubectl apply --server-side` does. Raises ApiError with the server's message."""
        metadata = manifest["metadata"]
        path = self._path(Kind(manifest["apiVersion"], manifest["kind"]), metadata.get("namespace"), metadata["name"])
        flags = "?fieldManager=user&force=true&fieldValidation=Strict"
        applied: Manifest = self.request("PATCH", path + flags, manifest, "application/apply-patch+yaml")
        return applied

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Manifest | None:
        """Return an object, None if it does not exist."""
        try:
            found: Manifest = self.request("GET", self._path(kind, namespace, name))
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return found

    def serves(self, kind: Kind) -> bool:
        """Tell whether the server lists a kind, which it does a moment after its definition is established."""
        try:
            self._resource(kind)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True

    def list(self, kind: Kind, namespace: str | None = None, **labels: str) -> list[Manifest]:
        """Return the objects of a kind with the `labels`, of all namespaces if none is given."""
        query = f"?labelSelector={urllib.parse.quote(','.join(f'{k}={v}' for k, v in labels.items()))}"
        found: list[Manifest] = self.request("GET", self._path(kind, namespace, None) + (query if labels else ""))[
            "items"
        ]
        return found

    def patch(
        self, kind: Kind, name: str, body: Mapping[str, Any], namespace: str | None = None, subresource: str = ""
    ) -> Manifest:
        """Merge `body` into an object (or its status, its scale)."""
        path = self._path(kind, namespace, name) + (f"/{subresource}" if subresource else "")
        patched: Manifest = self.request("PATCH", path, body, "application/merge-patch+json")
        return patched

    def delete(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        """Delete an object with background propagation; it need not exist."""
        try:
            self.request("DELETE", self._path(kind, namespace, name), {"propagationPolicy": "Background"})
        except ApiError as error:
            if error.status != 404:
                raise

    def _path(self, kind: Kind, namespace: str | None, name: str | None) -> str:
        plural, namespaced = self._resource(kind)
        root = f"/apis/{kind.api_version}" if "/" in kind.api_version else f"/api/{kind.api_version}"
        within = f"/namespaces/{namespace}" if namespaced and namespace else ""
        return f"{root}{within}/{plural}" + (f"/{name}" if name else "")

    def _resource(self, kind: Kind) -> tuple[str, bool]:
        if kind not in self._resources:
            root = f"/apis/{kind.api_version}" if "/" in kind.api_version else f"/api/{kind.api_version}"
            for resource in self.request("GET", root)["resources"]:
                if "/" not in resource["name"]:
                    found = Kind(kind.api_version, resource["kind"])
                    self._resources[found] = (resource["name"], resource["namespaced"])
        if kind not in self._resources:
            raise ApiError(404, f"no kind {kind.kind} in {kind.api_version}")
        return self._resources[kind]


def _may_come_again(method: str, path: str, status: int) -> bool:
    """Return whether a request is to be made once more.

    A server that begins to serve a kind, or has too much to do, asks for that. One that is starved gives up after 34
    seconds, as its etcd and its webhooks do before, or does not answer at all. Whether it has written is open then: all
    but what creates may be written twice. A dry run writes nothing.
    """
    failed = status == 0 or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    twice = method != "POST" or "dryRun=All" in path
    return status == HTTPStatus.TOO_MANY_REQUESTS or (failed and twice)


def _close(connections: Iterable[http.client.HTTPSConnection]) -> None:
    for connection in connections:
        connection.close()


def defined_kind(definition: Mapping[str, Any]) -> Kind:
    """Return the kind that a CustomResourceDefinition or an XRD defines, in its first version that is served."""
    spec = definition["spec"]
    version = next(each["name"] for each in spec["versions"] if each["served"])
    return Kind(f"{spec['group']}/{version}", spec["names"]["kind"])


def condition(manifest: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return a condition of an object; empty if it has none of that type."""
    conditions = manifest.get("status", {}).get("conditions") or []
    return next((entry for entry in conditions if entry["type"] == kind), {})
