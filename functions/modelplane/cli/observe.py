"""`modelplane observe`: answers scrapes and publishes what the gateway has ejected, as install/observe runs it."""

import sys
from pathlib import Path

import click
import structlog

from modelplane.cli.in_a_pod import api_server, server_options, until_sigterm
from modelplane.cli.logs import configure_logs
from modelplane.model.names import EJECTIONS, EJECTIONS_KEY, SYSTEM_NAMESPACE
from modelplane.observe import ApiServer, Entry, Gateway, publish

_EXAMPLES = """\b
Examples: the metrics of an export, and the process itself with kubectl's own rights:
  modelplane observe --from export.json
  kubectl create token modelplane-observe -n modelplane-system > token
  modelplane observe --server 10.0.0.1:6443 --token-file token --ca-file ca.crt
"""


def _serve(server: ApiServer, address: str) -> None:
    """Answer scrapes on threads of their own."""
    from modelplane.observe.fleet_metrics import FleetMetrics

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise click.UsageError(f"--metrics-address {address}: give HOST:PORT, such as 0.0.0.0:8080")
    try:
        bound = FleetMetrics(server).serve(host.strip("[]"), int(port))
    except (OSError, OverflowError) as error:
        raise click.ClickException(f"cannot serve metrics at {address}: {error}") from error
    structlog.get_logger().info("metrics are served", metrics_port=bound)


def _expose(path: str) -> None:
    """Print the metrics of an export."""
    from modelplane.cli.source import now, saying_why
    from modelplane.observe.exposition import expose
    from modelplane.reading.export import Export
    from modelplane.reading.fleet import read_fleet
    from modelplane.reading.manifests import read_manifests
    from modelplane.reading.series import read_series

    with saying_why():
        reader = Export(read_manifests([path], sys.stdin))
    click.echo(expose(read_series(reader, read_fleet(reader, now()))), nl=False)


@click.command("observe", epilog=_EXAMPLES)
@click.option("--from", "source", metavar="PATH", help="Print the metrics of an export once, and end.")
@server_options
@click.option("--statistics-port", type=click.IntRange(1, 65535), default=19001, show_default=True, help="Envoy's.")
@click.option("--metrics-address", envvar="METRICS_ADDRESS", metavar="HOST:PORT", help="Where to answer scrapes.")
@click.option("--every", type=click.FloatRange(0.1), default=5.0, show_default=True, help="Seconds between readings.")
@click.option("--debug", is_flag=True, envvar="DEBUG", help="Log more.")
def command(  # noqa: PLR0913 - click gives each option as an argument
    *,
    source: str | None,
    server: str | None,
    token_file: Path,
    ca_file: Path,
    host: str | None,
    port: str | None,
    statistics_port: int,
    metrics_address: str | None,
    every: float,
    debug: bool,
) -> None:
    """Watch the fleet until SIGTERM: answer scrapes of Prometheus, and publish what the public gateway has ejected.

    That goes into a ConfigMap of modelplane-system, from which compose-endpoint fills the status of ModelServices.
    """
    if source is not None:
        _expose(source)
        return
    found = api_server(server, token_file, ca_file, host, port)
    configure_logs(debug=debug)
    if metrics_address is not None:
        _serve(found, metrics_address)
    entry = Entry(SYSTEM_NAMESPACE, EJECTIONS, EJECTIONS_KEY)
    publish(found, entry, Gateway(found, statistics_port).read, every=every, ended=until_sigterm())
