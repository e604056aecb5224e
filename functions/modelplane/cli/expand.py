"""`modelplane expand NAMESPACE/NAME`: a deployment of a ClusterModel, with engines of its own."""

import click

from modelplane.cli.options import from_option

_EXAMPLES = """\b
Examples:
  modelplane expand ml/chat --from fleet/
  kubectl get modelplane -A -o yaml | modelplane expand ml/chat --from - --profile fp8
"""


@click.command("expand", epilog=_EXAMPLES)
@click.argument("deployment", metavar="NAMESPACE/NAME")
@from_option
@click.option("--profile", help="The profile to expand; needed where replicas run on several.")
@click.option(
    "--replica", help="The ModelReplica whose version of the profile to print; needed where they run several."
)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Format.")
def command(*, deployment: str, paths: tuple[str, ...], profile: str | None, replica: str | None, output: str) -> None:
    """Print a ModelDeployment of the catalogue with the engines of its profile, and without modelRef.

    Applied, it changes no pod of the replicas on that profile. What it cannot say, such as what the profile requires of
    pools, is printed to standard error. Pinned replicas may run several versions of a profile: name one of them with
    --replica, and those that the manifest would roll out to its version are printed to standard error.

    Exit code: 0 expanded, 1 there is no such deployment, 2 bad input.
    """
    if deployment.count("/") != 1 or not all(deployment.split("/")):
        raise click.UsageError(f"{deployment!r} is no NAMESPACE/NAME: write, for example, ml/chat")
    from modelplane.cli.answers.expand import expand

    expand(deployment, paths, profile, replica, output)
