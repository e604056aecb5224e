"""`modelplane inventory`: publishes what the nodes of a cluster's pools have, as its Deployment there does."""

import sys
import time
from pathlib import Path

import click

from modelplane.cli.in_a_pod import api_server, server_options, until_sigterm
from modelplane.cli.logs import configure_logs
from modelplane.inventory import run

_EXAMPLES = """\b
Example, with kubectl's own rights:
  kubectl create token modelplane-inventory -n modelplane-inventory > token
  modelplane inventory --server 10.0.0.1:6443 --token-file token --ca-file ca.crt
"""


@click.command("inventory", epilog=_EXAMPLES)
@server_options
@click.option("--every", type=click.FloatRange(0.1), default=15.0, show_default=True, help="Seconds between readings.")
@click.option(
    "--healthy-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File that is touched after each reading: as old as the last one that succeeded.",
)
@click.option("--debug", is_flag=True, envvar="DEBUG", help="Log more.")
def command(  # noqa: PLR0913 - click gives each option as an argument
    *,
    server: str | None,
    token_file: Path,
    ca_file: Path,
    host: str | None,
    port: str | None,
    every: float,
    healthy_file: Path | None,
    debug: bool,
) -> None:
    """Publish, until SIGTERM, what the nodes of each pool have: Ready nodes, their devices, and claims of others.

    It writes ConfigMap modelplane-inventory/modelplane-inventory. A loss counts after five minutes, a gain at once.
    Without a successful reading for ten minutes it exits with code 1.
    """
    found = api_server(server, token_file, ca_file, host, port)
    configure_logs(debug=debug)
    if not run(found, every=every, ended=until_sigterm(), clock=time.time, healthy=healthy_file):
        sys.exit(1)
