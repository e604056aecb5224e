"""`modelplane profiles MODEL`: which profiles of a ClusterModel could run on a fleet, now or if something goes."""

import sys

import click

from modelplane.cli.console import echo, printing
from modelplane.cli.fleet import from_option, settled
from modelplane.cli.logs import configure_logs
from modelplane.preview.outlook import NoModelError, find_outlooks
from modelplane.reading.outlook_table import show_outlooks

_ABSENT = 1
_EXAMPLES = """\b
Examples:
  modelplane profiles gemma-3-27b --from examples/catalogue
  kubectl get modelplane -A -o yaml | modelplane profiles gemma-3-27b --from - -n ml
  modelplane profiles gemma-3-27b --from fleet/ -o json | jq '.profiles[] | select(.state == "Now").name'
"""


@click.command("profiles", epilog=_EXAMPLES)
@click.argument("model")
@from_option
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace that would deploy the model.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True, help="Format."
)
def command(*, model: str, paths: tuple[str, ...], namespace: str, output: str) -> None:
    """Show on which profiles of the ClusterModel MODEL one more replica could run, and on which not.

    Three groups: those that can run now, with the cluster and the pools; those that only could if something goes, with
    the ModelReplicas that would have to; and those that never could as the fleet is, with what its pools lack. The
    scheduler of the control plane decides, for a deployment of one replica that names the model and nothing else.

    Exit code: 0 shown, 1 there is no such ClusterModel, 2 bad input.
    """
    configure_logs(debug=False)
    control = settled(paths)
    try:
        found = find_outlooks(control.view(), model, namespace)
    except NoModelError as error:
        click.echo(str(error), err=True)
        sys.exit(_ABSENT)
    if output == "table":
        with printing() as console:
            show_outlooks(console, found)
    else:
        echo(found, output)
