"""`modelplane` and `modelplane serve` on the command line."""

import subprocess
import sys
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner
from crossplane.function.proto.v1 import run_function_pb2_grpc as stubs

from modelplane import __version__
from modelplane.cli import main
from unit.transport.messages_by_sdk import request_of
from unit.transport.server_processes import server_of

_MAIN = "from modelplane.cli import main; main()"
_HEAVY = ("grpc", "google.protobuf", "rich", "pydantic", "celpy", "structlog", "yaml")


def test_help_lists_every_command_without_importing_what_they_need() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from modelplane.cli import main;"
        "print(CliRunner().invoke(main, ['--help']).output); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    shown, modules = done.stdout.rsplit("\n", 2)[:2]
    assert "Commands of the images:" in shown
    assert [name for name in _HEAVY if name in modules.split()] == []


def test_the_version_is_that_of_the_package() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"modelplane, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["serve"], 2, "Missing argument"),
        (["serve", "nonsense", "--insecure"], 2, "'nonsense' is not one of"),
        (["serve", "schedule"], 2, "give --tls-certs-dir (or TLS_SERVER_CERTS_DIR), or --insecure"),
        (["serve", "schedule", "--insecure", "--max-recv-message-size", "0"], 2, "0 is not in the range"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(arguments: list[str], code: int, words: str) -> None:
    done = CliRunner(env={"TLS_SERVER_CERTS_DIR": None, "INSECURE": None}).invoke(main, arguments)
    assert done.exit_code == code
    assert words in done.output


def test_a_folder_without_certificates_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _MAIN, "serve", "schedule", "--tls-certs-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"Error: certificates: {tmp_path}/tls.crt: No such file or directory\n"


@pytest.mark.parametrize(
    "function", ["schedule", "compose-replica", "compose-endpoint", "compose-cache", "compose-cluster"]
)
def test_each_function_is_served_and_refuses_kinds_of_others_by_its_name(function: str) -> None:
    composite = {"apiVersion": "v1", "kind": "Foreign", "metadata": {"name": "a"}}
    with server_of(["-c", _MAIN, "serve", function, "--insecure", "--address", "127.0.0.1:0"]) as server:
        with grpc.insecure_channel(server.address) as channel:
            response = stubs.FunctionRunnerServiceStub(channel).RunFunction(request_of(composite))
        assert server.stop() == 0
    assert f"function {function} composes no Foreign" in response.results[0].message


def test_crossplane_s_environment_is_enough_to_serve_with_mutual_tls(certificates: Path) -> None:
    arguments = ["-c", _MAIN, "serve", "compose-endpoint"]
    environment = {"TLS_SERVER_CERTS_DIR": str(certificates), "ADDRESS": "localhost:0"}
    with server_of(arguments, **environment) as server:
        assert server.logged()[0]["mutual_tls"] is True
