"""`modelplane get`: the fleet as it stands, of a control cluster or of what kubectl exports."""

import click

from modelplane.cli.options import Where, fleet_options, output_option

#: The words for a part of the fleet, and the part.
PARTS = {
    "fleet": "fleet",
    **dict.fromkeys(("clusters", "cluster", "inferenceclusters", "ic"), "clusters"),
    **dict.fromkeys(("deployments", "deployment", "modeldeployments", "md"), "deployments"),
    **dict.fromkeys(("services", "service", "modelservices", "ms"), "services"),
    **dict.fromkeys(("caches", "cache", "modelcaches", "mc"), "caches"),
}
_EXAMPLES = """\b
Examples:
  modelplane get -A
  modelplane get deployments -n ml
  modelplane get ml/chat -o wide
  modelplane get -A -w
  modelplane get -A -o json | jq '.clusters[] | {name, state}'
  kubectl get modelplane -A -o json | modelplane get -f -
"""


@click.command("get", epilog=_EXAMPLES)
@click.argument("what", metavar="[fleet|clusters|deployments|services|caches] [[NAMESPACE/]NAME]", nargs=-1)
@fleet_options
@output_option("table", "wide", "json", "yaml", "name")
@click.option("--objects", is_flag=True, help="With -o json or yaml: every object that was read, too.")
@click.option("-w", "--watch", is_flag=True, help="Go on, and print the rows that change.")
def command(*, what: tuple[str, ...], where: Where, output: str, objects: bool, watch: bool) -> None:
    """Show the fleet as it stands: clusters with their room, deployments, services, caches, and what is not known.

    It is that of the control cluster that kubectl's context names, or with -f what kubectl exports: files, folders
    (every .yaml, .yml and .json in them at any depth) or - for standard input. Only the status of objects is read, and
    nothing is reconciled: `modelplane preview` shows what manifests become. The room of a cluster is what it publishes
    where not all of its ModelReplicas are read.

    Exit code: 0 shown, 2 bad input.
    """
    if watch and not where.live:
        raise click.UsageError("-w watches a control cluster, and -f gives files: leave one of them out")
    if watch and output not in ("table", "wide"):
        raise click.UsageError("-w prints rows: leave -o out, or give -o wide")
    from modelplane.cli.answers.get import follow, parse, show
    from modelplane.cli.answers.watch import Rows

    rows = Rows(*parse(what), wide=output == "wide")
    if watch:
        follow(where, rows)
    else:
        show(where, rows, output, objects=objects)
