"""A small client of one API server: apply, read, patch and delete objects as JSON."""

import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple

#: Seconds that one request may take.
PATIENCE = 30.0
#: How often a request is made again, a second later, when the server asks for that.
TRIES = 10

Manifest = dict[str, Any]


class Kind(NamedTuple):
    """A kind of object, as a manifest names it."""

    api_version: str
    kind: str


class ApiError(Exception):
    """The API server refused; `status` is its HTTP status, 0 when there was no answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


@dataclass(slots=True)
class Api:
    """The API server at `url`, asked with a bearer token."""

    url: str
    token: str
    trust: ssl.SSLContext
    _resources: dict[Kind, tuple[str, bool]] = field(default_factory=dict)

    def request(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        """Return the answer's JSON. Raises ApiError."""
        for _ in range(TRIES):
            try:
                return self._ask(method, path, body, content)
            except ApiError as error:
                # A server that begins to serve a kind, or has too much to do, asks to come again.
                if error.status != HTTPStatus.TOO_MANY_REQUESTS:
                    raise
            time.sleep(1)
        return self._ask(method, path, body, content)

    def _ask(self, method: str, path: str, body: Any, content: str) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the URL is always https on loopback
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": content, "Accept": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            body = error.read().decode(errors="replace")
            message = json.loads(body).get("message", body) if body.startswith("{") else body
            raise ApiError(error.code, message) from None
        except OSError as error:
            raise ApiError(0, str(error)) from error

    def ready(self) -> bool:
        """Return whether the server says that it is ready."""
        try:
            self.text("/readyz")
        except OSError:
            return False
        return True

    def text(self, path: str) -> str:
        """Return what the server says at a path, as text."""
        request = urllib.request.Request(  # noqa: S310 - the URL is always https on loopback
            self.url + path, headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:  # noqa: S310
            body: bytes = answer.read()
        return body.decode()

    def apply(self, manifest: Mapping[str, Any]) -> Manifest:
        """Apply a manifest as `kubectl apply --server-side` does. Raises ApiError with the server's words."""
        metadata = manifest["metadata"]
        path = self._path(Kind(manifest["apiVersion"], manifest["kind"]), metadata.get("namespace"), metadata["name"])
        flags = "?fieldManager=user&force=true&fieldValidation=Strict"
        applied: Manifest = self.request("PATCH", path + flags, manifest, "application/apply-patch+yaml")
        return applied

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Manifest | None:
        """Return an object, None when there is none."""
        try:
            found: Manifest = self.request("GET", self._path(kind, namespace, name))
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return found

    def list(self, kind: Kind, namespace: str | None = None, **labels: str) -> list[Manifest]:
        """Return the objects of a kind, of all namespaces when none is given; labels as `{key: value}` narrow them."""
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
        """Delete an object in the background; it may be gone already."""
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


def condition(manifest: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return a condition of an object; empty when it has none of that type."""
    conditions = manifest.get("status", {}).get("conditions") or []
    return next((entry for entry in conditions if entry["type"] == kind), {})
