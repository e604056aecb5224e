"""`modelplane observe`: publishes what the public gateway has ejected, as the Deployment in install/observe does."""

import signal
import threading
from pathlib import Path

import click

from modelplane.cli.logs import configure_logs
from modelplane.model.names import EJECTIONS, EJECTIONS_KEY, SYSTEM_NAMESPACE
from modelplane.observe import ApiServer, Entry, Gateway, publish

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_FILE = click.Path(dir_okay=False, path_type=Path)
_EXAMPLES = """\b
Example, with kubectl's own rights:
  kubectl create token modelplane-observe -n modelplane-system > token
  modelplane observe --server 10.0.0.1:6443 --token-file token --ca-file ca.crt
"""


def _server(value: str, authority: Path, token: Path) -> ApiServer:
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal():
        raise click.UsageError(f"--server {value}: give HOST:PORT of the API server")
    return ApiServer(host.strip("[]"), int(port), authority, token)


@click.command("observe", epilog=_EXAMPLES)
@click.option("--server", envvar="MODELPLANE_API_SERVER", help="HOST:PORT of the API server; in a pod, the cluster's.")
@click.option("--token-file", type=_FILE, default=_ACCOUNT / "token", show_default=True, help="Token for it.")
@click.option("--ca-file", type=_FILE, default=_ACCOUNT / "ca.crt", show_default=True, help="CA of its certificate.")
@click.option("--host", envvar="KUBERNETES_SERVICE_HOST", hidden=True)
@click.option("--port", envvar="KUBERNETES_SERVICE_PORT", hidden=True)
@click.option("--statistics-port", type=click.IntRange(1, 65535), default=19001, show_default=True, help="Envoy's.")
@click.option("--every", type=click.FloatRange(0.1), default=5.0, show_default=True, help="Seconds between readings.")
@click.option("--debug", is_flag=True, envvar="DEBUG", help="Log more.")
def command(  # noqa: PLR0913 - click gives each option as an argument
    *,
    server: str | None,
    token_file: Path,
    ca_file: Path,
    host: str | None,
    port: str | None,
    statistics_port: int,
    every: float,
    debug: bool,
) -> None:
    """Publish, until SIGTERM, how many endpoints of each ModelService the public gateway has ejected.

    It writes a ConfigMap of modelplane-system, from which compose-endpoint fills the status of ModelServices.
    """
    if not server and not (host and port):
        raise click.UsageError("give --server: this is no pod, which would know the API server of its cluster")
    configure_logs(debug=debug)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    found = _server(server or f"{host}:{port}", ca_file, token_file)
    entry = Entry(SYSTEM_NAMESPACE, EJECTIONS, EJECTIONS_KEY)
    publish(found, entry, Gateway(found, statistics_port).read, every=every, ended=ended)
