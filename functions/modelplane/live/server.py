"""The API server of a control cluster: through kubectl's proxy, or one `kubectl get --raw` for each request."""

import contextlib
import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn, Protocol

from modelplane.live.errors import KubectlError, LiveError, ServerError
from modelplane.live.kubectl import Access, Kubectl
from modelplane.live.proxy import can_end_with_us, serve_proxy

JSON: Final = "application/json"
#: Seconds without a word from the server after which a request fails.
_SILENCE: Final = 60.0
#: How kubectl names a refusal of the server, and its HTTP status.
_REASONS: Final[Mapping[str, int]] = {"Forbidden": 403, "NotFound": 404, "Expired": 410, "Gone": 410}
_REFUSED: Final = re.compile(r"^Error from server \((\w+)\): ", re.MULTILINE)


class Watchable(Protocol):
    """An API server that is read. Requests raise ServerError for what it refuses, and LiveError where it is silent."""

    def get(self, path: str) -> Any:
        """Return the JSON under a path."""

    def watch(self, path: str) -> Iterator[Any]:
        """Yield the events of a watch, a JSON object each, until the server ends it."""


class Server(Watchable, Protocol):
    """An API server that kubectl has access to."""

    @property
    def kubectl(self) -> Kubectl:
        """Return kubectl with the same access."""

    def post(self, path: str, body: object) -> Any:
        """Return the answer to a body that is posted to a path."""


class ProxiedServer:
    """The server behind kubectl's proxy; one connection for all requests, and one for each watch."""

    def __init__(self, kubectl: Kubectl, path: Path) -> None:
        self.kubectl = kubectl
        self._path = path
        self._connection: _Connection | None = None

    def get(self, path: str) -> Any:
        """Return the JSON under a path."""
        return self._request("GET", path, None)

    def post(self, path: str, body: object) -> Any:
        """Return the answer to a body that is posted to a path."""
        return self._request("POST", path, json.dumps(body))

    def watch(self, path: str) -> Iterator[Any]:
        """Yield the events of a watch, a JSON object each, until the server ends it."""
        connection = _Connection(self._path, None)
        try:
            connection.request("GET", path, headers={"Accept": JSON})
            response = connection.getresponse()
            if response.status >= http.client.BAD_REQUEST:
                raise self._error(response.status, response.read())
            for line in response:
                yield json.loads(line)
        except (OSError, http.client.HTTPException) as error:
            raise LiveError(f"the watch broke: {error}") from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _request(self, method: str, path: str, body: str | None) -> Any:
        connection = self._connection = self._connection or _Connection(self._path, _SILENCE)
        headers = {"Accept": JSON} | ({"Content-Type": JSON} if body is not None else {})
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._silent(str(error) or type(error).__name__) from error
        if response.status >= http.client.BAD_REQUEST:
            raise self._error(response.status, answer)
        return json.loads(answer)

    def _error(self, status: int, answer: bytes) -> LiveError:
        text = answer.decode(errors="replace").strip()
        try:
            text = str(json.loads(text)["message"])
        except (ValueError, KeyError, TypeError):
            if status >= http.client.INTERNAL_SERVER_ERROR:
                # The proxy itself answers, because it did not reach the server.
                return self._silent(text)
        return ServerError(status, text)

    def _silent(self, text: str) -> LiveError:
        """Return what kubectl says of a server that does not answer, and that it has no context, if so."""
        said = [f"the control cluster does not answer: {text}"]
        try:
            self.kubectl.run("config", "current-context")
        except KubectlError as error:
            said.append(str(error))
        return LiveError("\n".join(said))


class RawServer:
    """The server by a kubectl for each request: where a proxy could outlive this process."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl

    def get(self, path: str) -> Any:
        """Return the JSON under a path."""
        return self._run("get", "--raw", path)

    def post(self, path: str, body: object) -> Any:
        """Return the answer to a body that is posted to a path."""
        return self._run("create", "--raw", path, "-f", "-", given=json.dumps(body))

    def watch(self, path: str) -> Iterator[Any]:  # noqa: ARG002 - as `Server` has it
        """Raise LiveError: kubectl holds back what a watch says."""
        raise LiveError("a watch needs kubectl's proxy, and here nothing would end that (setpriv is not on PATH)")

    def _run(self, *arguments: str, given: str | None = None) -> Any:
        try:
            return json.loads(self.kubectl.run(*arguments, given=given))
        except KubectlError as error:
            found = _REFUSED.search(str(error))
            status = _REASONS.get(found[1]) if found else None
            if found is None or status is None:
                raise
            raise ServerError(status, str(error)[found.end() :]) from error


@contextlib.contextmanager
def open_server(access: Access) -> Iterator[Server]:
    """Yield the API server of a control cluster; nothing of it is left afterwards, also after SIGTERM and SIGINT."""
    kubectl = Kubectl(access)
    if not can_end_with_us():
        yield RawServer(kubectl)
        return
    with _ending_on_sigterm(), serve_proxy(kubectl) as path:
        server = ProxiedServer(kubectl, path)
        try:
            yield server
        finally:
            server.close()


class _Connection(http.client.HTTPConnection):
    """HTTP on a Unix socket. The proxy takes requests for localhost only."""

    def __init__(self, path: Path, silence: float | None) -> None:
        super().__init__("localhost", timeout=silence)
        self._path, self._silence = path, silence

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._silence)
        self.sock.connect(str(self._path))


@contextlib.contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process as an exception does: contexts are left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
