"""`modelplane tree KIND/NAMESPACE/NAME`: what an object has become, and how each part of it stands."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane tree ml/chat
  modelplane tree service/ml/chat -o wide
  kubectl get modelplane -A -o json | modelplane tree ml/chat -f -
"""


@click.command("tree", epilog=_EXAMPLES)
@click.argument("ref", metavar="[KIND/][NAMESPACE/]NAME")
@fleet_options
@output_option("table", "wide", "json", "yaml", "name")
def command(*, ref: str, where: Where, output: str) -> None:
    """Show what an object composes, down to the objects on inference clusters, and how each stands.

    Without KIND it is a ModelDeployment. -o wide says why each object exists. Whoever may not read the objects of the
    provider sees the workloads that replicas publish. No Secret is read.

    Exit code: 0 shown, 2 bad input.
    """
    from modelplane.cli.answers.tree import show

    show(where, ref, output)
