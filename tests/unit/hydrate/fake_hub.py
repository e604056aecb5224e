"""A fake of the Hugging Face Hub on loopback: a repository's files over its HTTP API, and its mishaps on order."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

#: What a mishap makes of an answer: status, headers and body.
Answer = tuple[int, dict[str, str], bytes]
#: Gets the path of a request and its ordinary answer; returns the answer to give, cut short where the bytes are fewer.
Mishap = Callable[[str, Answer], Answer]


def commit_of(files: Mapping[str, bytes]) -> str:
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()  # noqa: S324 - a commit's name


def content(seed: int, size: int) -> bytes:
    """Return bytes that differ everywhere."""
    return b"".join(hashlib.sha256(f"{seed} {block}".encode()).digest() for block in range(size // 32 + 1))[:size]


@dataclass
class FakeHub:
    """The repository `org/model`: `branch` is the commit that main names, `commits` the files of each.

    Files that end in .safetensors are stored as large ones (SHA-256), others by git. `token` is asked for when set.
    `given` are bytes that it gives of a file instead of those that it lists. With a `store` it sends who asks for a
    file there, as the hub does; `sent` are the authorizations that came with a request for a file.
    """

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branch: str = ""
    token: str = ""
    mishap: Mishap = lambda _, answer: answer
    url: str = ""
    asked: list[str] = field(default_factory=list)
    given: dict[str, bytes] = field(default_factory=dict)
    store: str = ""
    sent: set[str] = field(default_factory=set)

    def push(self, files: Mapping[str, bytes]) -> str:
        """Make main name a commit of these files; return it."""
        self.branch = commit_of(files)
        self.commits[self.branch] = dict(files)
        return self.branch

    def _listing(self, commit: str) -> dict[str, Any]:
        rows = []
        for path, data in self.commits[commit].items():
            git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324 - as git names a blob
            row: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": git}
            if path.endswith(".safetensors"):
                row["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
            rows.append(row)
        return {"id": "org/model", "sha": commit, "siblings": rows, "tags": [], "downloads": 0, "likes": 0}

    def _fail(self, status: int, code: str) -> Answer:
        return status, {"X-Error-Code": code, "X-Error-Message": f"fake: {code}"}, b""

    def _file(self, commit: str, path: str, headers: Mapping[str, str]) -> Answer:
        data = self.commits.get(commit, {}).get(path)
        if data is None:
            return self._fail(404, "EntryNotFound")
        self.sent.add(headers.get("authorization", ""))
        if self.store:
            return 302, {"Location": f"{self.store}/org/model/resolve/{commit}/{path}"}, b""
        data = self.given.get(path, data)
        start = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
        if not start:
            return 200, {}, data
        if int(start[1]) >= len(data):
            return 416, {"Content-Range": f"bytes */{len(data)}"}, b""
        extent = f"bytes {start[1]}-{len(data) - 1}/{len(data)}"
        return 206, {"Content-Range": extent}, data[int(start[1]) :]

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        """Return the ordinary answer to a GET."""
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return self._fail(401, "GatedRepo")
        if found := re.fullmatch(r"/api/models/org/model(?:/revision/(.+))?", path):
            commit = self.branch if found[1] in (None, "main") else found[1]
            if commit not in self.commits:
                return self._fail(404, "RevisionNotFound")
            return 200, {"Content-Type": "application/json"}, json.dumps(self._listing(commit)).encode()
        if found := re.fullmatch(r"/org/model/resolve/([^/]+)/(.+)", path):
            return self._file(found[1], found[2], headers)
        return self._fail(404, "RepoNotFound")


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(path)
            ordinary = hub.answer(path, {name.lower(): value for name, value in self.headers.items()})
            status, headers, body = hub.mishap(path, ordinary)
            self.send_response(status)
            whole = status in (200, 206) and len(body) < len(ordinary[2])
            for name, value in {**headers, "Content-Length": str(len(ordinary[2] if whole else body))}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            self.close_connection = self.close_connection or whole

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Keep quiet about clients that were killed."""


@contextmanager
def serving(files: Mapping[str, bytes], **fields: Any) -> Iterator[FakeHub]:
    """Serve a repository of these files until the end of the block."""
    hub = FakeHub(**fields)
    hub.push(files)
    server = _Server(("127.0.0.1", 0), _handler(hub))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
