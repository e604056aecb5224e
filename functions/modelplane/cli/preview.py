"""`modelplane preview PATH...`: what manifests become on a control plane, without a cluster."""

import click

_EXAMPLES = """\b
Examples:
  modelplane preview examples
  kubectl get modelplane -A -o yaml | modelplane preview - new.yaml
  modelplane preview examples -o json | jq '.deployments[].reasons'
  modelplane preview examples --trace ml/kimi-k2
"""


@click.command("preview", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("-f", "--filename", "--from", "files", metavar="PATH", multiple=True, help="The same as PATH.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "yaml"]),
    default="table",
    show_default=True,
    help="Format; wide is the table with why each replica is placed where it is.",
)
@click.option(
    "--trace",
    "traced",
    metavar="[NAMESPACE/]NAME",
    help="Show what this ModelDeployment or ModelReplica becomes instead: every object, and the rule behind it.",
)
@click.option("--strict", is_flag=True, help="Take a Secret or ConfigMap that is not in PATH... for missing.")
def command(*, paths: tuple[str, ...], files: tuple[str, ...], output: str, traced: str | None, strict: bool) -> None:
    """Show where the deployments in PATH... run, and why what cannot be placed is not.

    Each PATH is a file, a folder (every .yaml, .yml and .json in it at any depth) or - for standard input; files hold
    manifests or what kubectl exports. The functions of the control plane run here, on this machine; providers and
    clusters are simulated as healthy. Objects that have a status keep it. Secrets and ConfigMaps that are not given are
    assumed to exist. Where a cluster has more ModelReplicas than are given, the others take what it publishes of them.

    Exit code: 0 all placed and Ready, 1 something unplaced, refused or not Ready, 2 bad input, 3 not settled.
    """
    if not paths and not files:
        raise click.UsageError("Missing argument 'PATH...'.")
    from modelplane.cli.answers.preview import preview

    preview((*paths, *files), output, traced, strict=strict)
