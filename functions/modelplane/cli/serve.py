"""`modelplane serve FUNCTION`: one composition function, as Crossplane starts it."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Final

import click

from modelplane.cli.logs import configure_logs
from modelplane.step import Step
from modelplane.step.call import dispatch
from modelplane.transport.admission import LARGEST
from modelplane.transport.exchange import answer
from modelplane.transport.metrics import Metrics
from modelplane.transport.server import ListenError, Settings, serve

#: The package of each function; it exports `STEPS`, the step of each composite kind, and optionally `warm`.
FUNCTIONS: Final[Mapping[str, str]] = {
    "schedule": "modelplane.schedule",
    "compose-replica": "modelplane.compose_replica",
    "compose-endpoint": "modelplane.compose_endpoint",
    "compose-cache": "modelplane.compose_cache",
    "compose-cluster": "modelplane.compose_cluster",
}


_EXAMPLES = """\b
Example:
  modelplane serve schedule --insecure --address 127.0.0.1:9443
"""


@click.command("serve", epilog=_EXAMPLES)
@click.argument("function", type=click.Choice(sorted(FUNCTIONS)))
@click.option("--address", default="0.0.0.0:9443", show_default=True, envvar="ADDRESS", help="Where to listen.")
@click.option(
    "--tls-certs-dir",
    "--tls-server-certs-dir",
    "tls_certs_dir",
    envvar="TLS_SERVER_CERTS_DIR",
    help="Folder with tls.crt, tls.key and ca.crt, for mutual TLS.  [env: TLS_SERVER_CERTS_DIR]",
)
@click.option("--insecure", is_flag=True, envvar="INSECURE", help="Serve without TLS, certificates or not.")
@click.option(
    "--max-recv-message-size",
    type=click.IntRange(min=1),
    default=LARGEST,
    show_default=True,
    envvar="MAX_RECV_MESSAGE_SIZE",
    help="Largest request, in MiB.",
)
@click.option(
    "--metrics-address",
    envvar="METRICS_ADDRESS",
    metavar="HOST:PORT",
    help="Where to answer scrapes of Prometheus; none by default, port 8080 in the image.  [env: METRICS_ADDRESS]",
)
@click.option("--debug", is_flag=True, envvar="DEBUG", help="Log more.")
def command(  # noqa: PLR0913 - click gives each option as an argument
    *,
    function: str,
    address: str,
    tls_certs_dir: str | None,
    insecure: bool,
    max_recv_message_size: int,
    metrics_address: str | None,
    debug: bool,
) -> None:
    """Serve a composition FUNCTION over gRPC until SIGTERM; calls under way are finished first."""
    if not insecure and not tls_certs_dir:
        raise click.UsageError("give --tls-certs-dir (or TLS_SERVER_CERTS_DIR), or --insecure to serve without TLS")
    configure_logs(debug=debug)
    package = import_module(FUNCTIONS[function])
    steps: Mapping[str, Step] = package.STEPS
    # A function may do the slow parts of a first call before the server listens.
    getattr(package, "warm", lambda: None)()
    certificates = None if insecure else tls_certs_dir
    settings = Settings(address, certificates, max_recv_message_size * 1024 * 1024)
    metrics = Metrics(function, steps)
    measured = partial(answer, dispatch(function, steps), record=metrics.record)
    try:
        if metrics_address is not None:
            metrics.serve(metrics_address)
        serve(metrics.counted(measured), settings)
    except ListenError as error:
        raise click.ClickException(str(error)) from error
