"""The credentials of kubectl reach the server through the proxy: tokens and certificates, of plugins and of files.

The server is a Python one with TLS by a CA of its own. It notes who asked, and has no kinds.
"""

import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from modelplane_dev import components
from modelplane_dev.plane.certificates import Certificates, make_certificates

Manifest = dict[str, Any]
VERSION = "client.authentication.k8s.io/v1"


class Recorder(ThreadingHTTPServer):
    """A server that notes of each request its bearer token, and the name on its client's certificate."""

    def __init__(self, certificates: Certificates) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: set[tuple[str, str]] = set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.server / "tls.crt", certificates.server / "tls.key")
        context.load_verify_locations(certificates.authority)
        context.verify_mode = ssl.CERT_OPTIONAL
        self.socket = context.wrap_socket(self.socket, server_side=True)


class Handler(BaseHTTPRequestHandler):
    """Answers every list with no objects."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Note who asks, and answer."""
        server, connection = self.server, self.connection
        assert isinstance(server, Recorder)
        assert isinstance(connection, ssl.SSLSocket)
        subject: Any = (connection.getpeercert() or {}).get("subject") or ()
        name = dict(pair for each in subject for pair in each).get("commonName", "")
        server.seen.add((self.headers.get("Authorization", ""), name))
        body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("credentials") / "certificates")


@pytest.fixture
def recorder(certificates: Certificates) -> Iterator[Recorder]:
    with Recorder(certificates) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def plugin(folder: Path, status: Mapping[str, str], words: str = "", code: int = 0) -> Manifest:
    """Return the user of a kubeconfig whose credentials a plugin gives."""
    program = folder / "plugin"
    answer = json.dumps({"apiVersion": VERSION, "kind": "ExecCredential", "status": status})
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stderr.write({words!r})\nprint({answer!r})\nsys.exit({code})\n"
    )
    program.chmod(0o755)
    return {"exec": {"apiVersion": VERSION, "command": str(program), "interactiveMode": "Never"}}


def get(
    folder: Path, recorder: Recorder, certificates: Certificates, user: Manifest
) -> "subprocess.CompletedProcess[str]":
    """Return what `kubectl modelplane get` prints with a kubeconfig of a user."""
    cluster = {"server": f"https://127.0.0.1:{recorder.server_port}", "certificate-authority-data": certificates.bundle}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content))
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "KUBECACHEDIR": str(folder)}
    command = [str(components.path("kubectl")), "modelplane", "get", "--kubeconfig", str(file)]
    environment["PATH"] = f"{components.path('kubectl').parent}:{environment['PATH']}"
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


#: Credentials, and what the server sees of them: the header Authorization, and the name on the certificate.
USERS = {
    "a token of a plugin": ("exec token", ("Bearer of-plugin", "")),
    "a certificate of a plugin": ("exec certificate", ("", "client")),
    "a certificate of the file": ("certificate", ("", "client")),
}


@pytest.mark.parametrize(("kind", "seen"), USERS.values(), ids=USERS)
def test_the_server_sees_the_credentials_of_kubectl(
    tmp_path: Path, recorder: Recorder, certificates: Certificates, kind: str, seen: tuple[str, str]
) -> None:
    pair = [(certificates.client / name).read_text() for name in ("tls.crt", "tls.key")]
    files = {
        "client-certificate": str(certificates.client / "tls.crt"),
        "client-key": str(certificates.client / "tls.key"),
    }
    users = {
        "exec token": plugin(tmp_path, {"token": "of-plugin"}),
        "certificate": files,
        "exec certificate": {},
    }
    if kind == "exec certificate":
        users[kind] = plugin(tmp_path, {"clientCertificateData": pair[0], "clientKeyData": pair[1]})
    done = get(tmp_path, recorder, certificates, users[kind])
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing in namespace ml" in done.stdout
    assert recorder.seen == {seen}


def test_the_words_of_a_plugin_that_fails_are_whole(
    tmp_path: Path, recorder: Recorder, certificates: Certificates
) -> None:
    user = plugin(tmp_path, {}, words="your session has ended\nlog in with: corp login\n", code=3)
    done = get(tmp_path, recorder, certificates, user)
    assert (done.returncode, done.stdout, recorder.seen) == (2, "", set())
    assert done.stderr.startswith("your session has ended\nlog in with: corp login\n")
    assert "failed with exit code 3" in done.stderr


def test_what_a_plugin_says_while_it_gives_credentials_is_shown(
    tmp_path: Path, recorder: Recorder, certificates: Certificates
) -> None:
    user = plugin(tmp_path, {"token": "of-plugin"}, words="open https://login.example.org\n")
    done = get(tmp_path, recorder, certificates, user)
    assert (done.returncode, done.stderr) == (0, "open https://login.example.org\n")
