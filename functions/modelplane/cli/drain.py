"""`modelplane drain`: what draining a cluster would do, and doing it."""

import click

from modelplane.cli.options import Where, output_option, snapshot_options

_EXAMPLES = """\b
Examples:
  modelplane drain us-east-1
  modelplane drain us-east-1 --apply
  modelplane drain us-east-1 -o json | jq '.contested'
  kubectl get modelplane -A -o json | modelplane drain us-east-1 --from -
"""


@click.command("drain", epilog=_EXAMPLES)
@click.argument("cluster")
@click.option("--apply", "applies", is_flag=True, help="Set the taint, if the answer is still the same then.")
@click.option(
    "--accept-loss",
    "accepted",
    metavar="NS/NAME",
    multiple=True,
    help="A deployment that may lose its last replica that serves.",
)
@snapshot_options
@output_option("table", "json", "yaml")
def command(*, cluster: str, applies: bool, accepted: tuple[str, ...], where: Where, output: str) -> None:
    """Show what draining CLUSTER would do: which replicas move where, which find no place, and what serves meanwhile.

    It is the plan of a NoExecute taint, and ends with the command that sets it. With --apply it is set, unless a
    deployment would lose its last replica that serves and is not named by --accept-loss, or a second look at the fleet
    gives another answer.

    Exit code: 0 all placed, 1 something waits, loses all that serves or is contested, 2 bad input, 3 not settled.
    """
    if accepted and not applies:
        raise click.UsageError("--accept-loss says what --apply may do: give both")
    if applies and not where.live:
        raise click.UsageError("--apply sets a taint on a control cluster, and --from reads files: give one")
    from modelplane.cli.planning import drain

    drain(where, cluster, output, accepted=frozenset(accepted) if applies else None)
