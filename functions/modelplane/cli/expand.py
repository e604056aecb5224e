"""`modelplane expand NAMESPACE/NAME`: a deployment of a ClusterModel, with engines of its own."""

import sys

import click

from modelplane.cli.console import echo
from modelplane.cli.fleet import from_option, settled
from modelplane.cli.logs import configure_logs
from modelplane.preview.expanding import CannotExpand, expand_deployment
from modelplane.preview.report import BAD_INPUT

_ABSENT = 1
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
    configure_logs(debug=False)
    namespace, _, name = deployment.partition("/")
    if not namespace or not name or "/" in name:
        raise click.UsageError(f"{deployment!r} is no NAMESPACE/NAME: write, for example, ml/chat")
    control = settled(paths)
    try:
        found = expand_deployment(control, namespace, name, profile, replica)
    except CannotExpand as error:
        click.echo(str(error), err=True)
        sys.exit(_ABSENT if error.absent else BAD_INPUT)
    if found.lost:
        click.echo(f"These requirements are lost, so any pool matches: {'; '.join(found.lost)}", err=True)
    if found.changed:
        click.echo(f"Rolled out to this version of the profile once applied: {', '.join(found.changed)}", err=True)
    echo(found.manifest, output)
