"""`modelplane class --from-cluster NAME`: an InferenceClass from what the nodes of a pool publish."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

_EXAMPLES = """\b
Examples:
  modelplane class --from-cluster eu-1 --pool h100
  modelplane class --from-cluster eu-1 | kubectl diff -f -
  kubectl get modelplane,objects.kubernetes.m.crossplane.io -A -o yaml | modelplane class --from-cluster eu-1 -f -
"""


@click.command("class", epilog=_EXAMPLES)
@click.option("--from-cluster", "cluster", metavar="NAME", required=True, help="InferenceCluster to read.")
@click.option("--pool", default="", help="Pool to read; by default each pool.")
@fleet_options
@output_option("yaml", "json")
def command(*, cluster: str, pool: str, where: Where, output: str) -> None:
    """Print the InferenceClass of a pool as its nodes publish their devices: a new one, or one that is corrected.

    It reads what `modelplane inventory` publishes on the cluster (spec.stack.inventory), as the control cluster
    observes it. The class that the pool names keeps what nodes do not publish: names of entries, DeviceClasses,
    synthetic devices, capabilities and provisioning. What is left out, and what is to be filled in, is printed to
    standard error.

    Exit code: 0 printed, 1 nothing is published, 2 bad input.
    """
    from modelplane.cli.answers.classes import show

    show(where, cluster, pool, output)
