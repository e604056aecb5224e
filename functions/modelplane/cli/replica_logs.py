"""`modelplane logs NAMESPACE/REPLICA`: what the engines of a replica write."""

import click

from modelplane.cli.options import Where, fleet_options

_EXAMPLES = """\b
Examples:
  modelplane logs ml/chat-eu-1-0-4f1c2d3e --cluster-context eu-1
  modelplane logs ml/chat-eu-1-0-4f1c2d3e --tail 20
"""


@click.command("logs", epilog=_EXAMPLES)
@click.argument("replica", metavar="NAMESPACE/REPLICA")
@fleet_options
@click.option("--cluster-context", default="", help="Context of kubectl's configuration for the inference cluster.")
@click.option("--cluster-kubeconfig", default="", help="kubectl's configuration file for the inference cluster.")
@click.option("--tail", type=click.IntRange(0), default=100, show_default=True, help="Last lines of each container.")
def command(*, replica: str, where: Where, cluster_context: str, cluster_kubeconfig: str, tail: int) -> None:
    """Print the last lines that the engines of a ModelReplica have written, by `kubectl logs` on its cluster.

    The inference cluster is reached by --cluster-context or --cluster-kubeconfig, or else with the kubeconfig in
    modelplane-system if you may read that Secret. If neither is there, it prints where the pods are.

    Exit code: 0 printed, 2 the cluster is not reached or bad input, else that of kubectl.
    """
    if not where.live:
        raise click.UsageError("logs are on a cluster: leave -f out")
    from modelplane.cli.answers.logs import show

    show(where, replica, cluster_context, cluster_kubeconfig, tail)
