"""`modelplane check`: whether a control cluster has what Modelplane needs, and what its user may see."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane check
  modelplane check -n ml --as alice
  kubectl get modelplane -A -o json | modelplane check -f -
"""


@click.command("check", epilog=_EXAMPLES)
@fleet_options
@output_option("table", "json", "yaml")
def command(*, where: Where, output: str) -> None:
    """Check versions, definitions, packages, rights, clusters and gateways; with -f what of that is in files.

    Exit code: 0 all is well, 1 something is not, 2 the control cluster is not reached or bad input.
    """
    from modelplane.cli.answers.check import check

    check(where, output)
