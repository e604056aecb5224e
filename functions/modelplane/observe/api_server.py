"""The Kubernetes API server, as a pod reaches it: by TLS, with the token of its service account."""

import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modelplane.live import LiveError, ServerError

#: Seconds that an answer may take.
PATIENCE: Final = 10.0
#: Seconds without an event after which a watch is broken: the server sends a bookmark each minute.
_SILENCE: Final = 180.0
#: The most bytes of an answer that are read. A page of a list has 500 objects.
_LARGEST: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ApiServer:
    """An API server at `host` and `port`, whose certificate is of the CA in a file. `token` is the file of a token.

    Requests raise ServerError for what it refuses, and LiveError for anything else that it does not answer.
    """

    host: str
    port: int
    authority: Path
    token: Path

    def get(self, path: str) -> dict[str, Any]:
        """Return an object or list."""
        return self._request("GET", path)

    def merge(self, path: str, patch: dict[str, Any]) -> None:
        """Change an object that exists by a merge patch."""
        self._request("PATCH", path, json.dumps(patch))

    def watch(self, path: str) -> Iterator[Any]:
        """Yield the events of a watch, a JSON object each, until the server ends it."""
        with self._asking("GET", path, None, _SILENCE) as answer:
            for line in answer:
                yield json.loads(line)

    def _request(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        with self._asking(method, path, body, PATIENCE) as answer:
            found = json.loads(answer.read(_LARGEST))
        if not isinstance(found, dict):
            raise LiveError(f"{method} {path}: the answer is no object")
        return found

    @contextmanager
    def _asking(self, method: str, path: str, body: str | None, silence: float) -> Iterator[http.client.HTTPResponse]:
        """Yield the answer to a request, from a connection of its own."""
        connection = None
        try:
            # Both files are replaced while the pod runs.
            headers = {"Authorization": f"Bearer {self.token.read_text().strip()}", "Accept": "application/json"}
            context = ssl.create_default_context(cafile=self.authority)
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=silence, context=context)
            connection.request(method, path, body, headers | {"Content-Type": "application/merge-patch+json"})
            answer = connection.getresponse()
            if answer.status != http.HTTPStatus.OK:
                raise ServerError(answer.status, f"{method} {path}: {answer.status} {_message(answer)}".strip())
            yield answer
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise LiveError(f"{method} {path}: {error}") from error
        finally:
            if connection is not None:
                connection.close()


def _message(answer: http.client.HTTPResponse) -> str:
    """Return what the server says of a refusal, "" where it says nothing."""
    try:
        found = json.loads(answer.read(_LARGEST))
    except ValueError:
        return ""
    return str(found.get("message") or "") if isinstance(found, dict) else ""
