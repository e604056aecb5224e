"""`modelplane capacity`: what is free, and how many more replicas of a shape fit where."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane capacity
  modelplane capacity ml/chat
  modelplane capacity --gpus 8 --nodes 2
  modelplane capacity --gpus 1 --cel 'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"'
  kubectl get modelplane -A -o json | modelplane capacity --gpus 4 -f -
"""


@click.command("capacity", epilog=_EXAMPLES)
@click.argument("deployment", metavar="[[NAMESPACE/]NAME]", required=False)
@fleet_options
@output_option("table", "json", "yaml")
@click.option("--gpus", type=click.IntRange(1, 128), help="Devices that an engine takes on each of its nodes.")
@click.option("--nodes", type=click.IntRange(1, 64), default=1, show_default=True, help="Nodes of an engine.")
@click.option(
    "--cel",
    "selector",
    default="",
    metavar="EXPRESSION",
    help="Selector of the devices; else those whose driver begins with gpu.",
)
def command(  # noqa: PLR0913 - click gives each option as an argument
    *, deployment: str | None, where: Where, output: str, gpus: int | None, nodes: int, selector: str
) -> None:
    """Show what is free in each pool, and how many more replicas of a shape the fleet takes, and where.

    The shape is that of the ModelDeployment NAME, or of one engine with --gpus devices on each of --nodes nodes. The
    scheduler of the control plane counts: free devices in no whole node take engines that need less than a node. It
    needs to list clusters only.

    Exit code: 0 shown, 2 bad input.
    """
    if deployment and gpus:
        raise click.UsageError(f"{deployment} and --gpus: give the name of a deployment, or a shape")
    if (selector or nodes > 1) and not gpus:
        raise click.UsageError("--nodes and --cel describe a shape: give --gpus, too")
    from modelplane.cli.answers.capacity import Shape, measure

    measure(where, Shape(gpus, nodes, selector) if gpus else None, deployment or "", output)
