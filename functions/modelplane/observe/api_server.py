"""The Kubernetes API server, as a pod reaches it: by TLS, with the token of its service account."""

import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: Seconds that an answer may take.
PATIENCE: Final = 10.0
#: The most bytes of an answer that are read.
_LARGEST: Final = 16 * 2**20


class ApiServerError(Exception):
    """The API server has not answered as expected; the text says what was requested, and what it said."""


@dataclass(frozen=True, slots=True)
class ApiServer:
    """An API server at `host` and `port`, whose certificate is of the CA in a file. `token` is the file of a token."""

    host: str
    port: int
    authority: Path
    token: Path

    def get(self, path: str) -> dict[str, Any]:
        """Return an object or list. Raises ApiServerError."""
        return self._request("GET", path)

    def merge(self, path: str, patch: dict[str, Any]) -> None:
        """Change an object that exists by a merge patch. Raises ApiServerError."""
        self._request("PATCH", path, json.dumps(patch))

    def _request(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        asked = f"{method} {path}"
        try:
            # Both files are replaced while the pod runs.
            headers = {"Authorization": f"Bearer {self.token.read_text().strip()}", "Accept": "application/json"}
            context = ssl.create_default_context(cafile=self.authority)
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=PATIENCE, context=context)
            try:
                connection.request(method, path, body, headers | {"Content-Type": "application/merge-patch+json"})
                answer = connection.getresponse()
                text = answer.read(_LARGEST)
            finally:
                connection.close()
            found = json.loads(text)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ApiServerError(f"{asked}: {error}") from error
        if answer.status != http.HTTPStatus.OK or not isinstance(found, dict):
            message = found.get("message") if isinstance(found, dict) else ""
            raise ApiServerError(f"{asked}: {answer.status} {message}")
        return found
