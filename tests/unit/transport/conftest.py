"""A server with the test steps, and channels to it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
from crossplane.function.proto.v1 import run_function_pb2_grpc as stubs

from unit.transport.server_processes import Server, server_of

_SERVED = ["-m", "unit.transport.served", "127.0.0.1:0"]


@pytest.fixture
def server() -> Iterator[Server]:
    with server_of(_SERVED) as running:
        yield running


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Server]:
    """Yield a server for tests that leave it as it was."""
    with server_of(_SERVED) as running:
        yield running


@pytest.fixture
def channel(shared_server: Server) -> Iterator[grpc.Channel]:
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(shared_server.address, options=options) as opened:
        yield opened


@pytest.fixture
def runner(channel: grpc.Channel) -> stubs.FunctionRunnerServiceStub:
    return stubs.FunctionRunnerServiceStub(channel)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a CA and one certificate for localhost, as Crossplane mounts them into a function."""
    folder = tmp_path_factory.mktemp("tls")
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-x509", "-days", "1"]
    _openssl(folder, "req", *ec, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.crt")
    signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost"]
    _openssl(folder, "req", *ec, *signed, "-subj", "/CN=localhost", "-keyout", "tls.key", "-out", "tls.crt")
    return folder


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
