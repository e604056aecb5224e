"""`modelplane get`: the fleet as it stands, of what kubectl exports."""

import sys
from datetime import UTC, datetime

import click

from modelplane.cli.console import echo, printing
from modelplane.cli.logs import configure_logs
from modelplane.reading.export import Export
from modelplane.reading.fleet import as_json, read_fleet
from modelplane.reading.fleet_tables import show_fleet
from modelplane.reading.manifests import InvalidInput, read_manifests

_BAD_INPUT = 2
_EXAMPLES = """\b
Examples:
  kubectl get modelplane -A -o json | modelplane get -f -
  modelplane get -f export.json -o json | jq '.clusters[] | {name, state}'
"""


@click.command("get", epilog=_EXAMPLES)
@click.option(
    "-f", "--from", "paths", metavar="PATH", multiple=True, required=True, help="What kubectl exports, - for stdin."
)
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True, help="Format."
)
def command(*, paths: tuple[str, ...], output: str) -> None:
    """Show the fleet as it stands: clusters with their room, deployments, services, and what is not known.

    Each PATH is a file, a folder (every .yaml, .yml and .json in it at any depth) or - for standard input. Only the
    status of the objects is read and nothing is reconciled: `modelplane preview` shows what manifests become. Where a
    cluster has more ModelReplicas than are given, its room is what it publishes.

    Exit code: 0 shown, 2 bad input.
    """
    configure_logs(debug=False)
    try:
        export = Export(read_manifests(paths, sys.stdin))
    except InvalidInput as error:
        click.echo(str(error), err=True)
        sys.exit(_BAD_INPUT)
    fleet = read_fleet(export, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    if output == "table":
        with printing() as console:
            show_fleet(console, fleet)
    else:
        echo(as_json(fleet), output)
