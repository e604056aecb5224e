"""`modelplane observe`: publishes what the public gateway has ejected, as the Deployment in install/observe does."""

from pathlib import Path

import click

from modelplane.cli.in_a_pod import api_server, server_options, until_sigterm
from modelplane.cli.logs import configure_logs
from modelplane.model.names import EJECTIONS, EJECTIONS_KEY, SYSTEM_NAMESPACE
from modelplane.observe import Entry, Gateway, publish

_EXAMPLES = """\b
Example, with kubectl's own rights:
  kubectl create token modelplane-observe -n modelplane-system > token
  modelplane observe --server 10.0.0.1:6443 --token-file token --ca-file ca.crt
"""


@click.command("observe", epilog=_EXAMPLES)
@server_options
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
    found = api_server(server, token_file, ca_file, host, port)
    configure_logs(debug=debug)
    entry = Entry(SYSTEM_NAMESPACE, EJECTIONS, EJECTIONS_KEY)
    publish(found, entry, Gateway(found, statistics_port).read, every=every, ended=until_sigterm())
