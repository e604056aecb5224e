"""`modelplane profiles [MODEL]`: which profiles of ClusterModels could run on a fleet, now or if something goes."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane profiles
  modelplane profiles gemma-3-27b -n ml
  modelplane profiles gemma-3-27b -f examples/catalogue
  modelplane profiles gemma-3-27b -f fleet/ -o json | jq '.profiles[] | select(.state == "Now").name'
"""


@click.command("profiles", epilog=_EXAMPLES)
@click.argument("model", required=False)
@fleet_options
@output_option("table", "json", "yaml")
def command(*, model: str | None, where: Where, output: str) -> None:
    """Show on which profiles of the ClusterModel MODEL one more replica could run, and on which not; or of all models.

    Three groups: those that can run now, with the cluster and the pools; those that only could if something goes, with
    the ModelReplicas that would have to; and those that never could as the fleet is, with what its pools lack. The
    scheduler of the control plane decides, for a deployment of one replica that names the model and nothing else.
    With -f manifests are reconciled first, as `modelplane preview` does it.

    Exit code: 0 shown, 1 there is no such ClusterModel, 2 bad input.
    """
    from modelplane.cli.answers.profiles import show

    show(where, model, output)
