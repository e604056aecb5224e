"""The options of commands that run in a pod and ask the API server of its cluster."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from modelplane.observe import ApiServer

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_FILE = click.Path(dir_okay=False, path_type=Path)
_OPTIONS = (
    click.option(
        "--server", envvar="MODELPLANE_API_SERVER", help="HOST:PORT of the API server; in a pod, the cluster's."
    ),
    click.option("--token-file", type=_FILE, default=_ACCOUNT / "token", show_default=True, help="Token for it."),
    click.option(
        "--ca-file", type=_FILE, default=_ACCOUNT / "ca.crt", show_default=True, help="CA of its certificate."
    ),
    click.option("--host", envvar="KUBERNETES_SERVICE_HOST", hidden=True),
    click.option("--port", envvar="KUBERNETES_SERVICE_PORT", hidden=True),
)


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which API server is asked, and by which token."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def api_server(server: str | None, token_file: Path, ca_file: Path, host: str | None, port: str | None) -> ApiServer:
    """Return the API server that the options name."""
    if not server and not (host and port):
        raise click.UsageError("give --server: this is no pod, which would know the API server of its cluster")
    named = server or f"{host}:{port}"
    address, _, number = named.rpartition(":")
    if not address or not number.isdecimal():
        raise click.UsageError(f"--server {named}: give HOST:PORT of the API server")
    return ApiServer(address.strip("[]"), int(number), ca_file, token_file)


def until_sigterm() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    return ended
