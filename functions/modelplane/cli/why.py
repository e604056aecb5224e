"""`modelplane why NAMESPACE/NAME`: what an object waits for, the deepest cause first."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane why ml/chat
  modelplane why service/ml/chat
  modelplane why cluster/eu-1
  kubectl get modelplane -A -o json | modelplane why ml/chat -f -
"""


@click.command("why", epilog=_EXAMPLES)
@click.argument("ref", metavar="[KIND/][NAMESPACE/]NAME")
@fleet_options
@output_option("table", "json", "yaml")
def command(*, ref: str, where: Where, output: str) -> None:
    """Show what an object waits for, the deepest cause first, and what helps.

    Without KIND it is a ModelDeployment. Of one that is not placed the scheduler of the control plane is asked why: all
    clusters and pools are named with what was found against what is needed. Messages are shown whole.

    Exit code: 0 shown, 2 bad input.
    """
    from modelplane.cli.answers.why import explain

    explain(where, ref, output)
