"""What `modelplane expand` does once its arguments are read."""

import sys

import click

from modelplane.cli.answers.settled import settled
from modelplane.cli.console import echo
from modelplane.cli.logs import configure_logs
from modelplane.preview.expanding import CannotExpand, expand_deployment
from modelplane.preview.report import BAD_INPUT

_ABSENT = 1


def expand(deployment: str, paths: tuple[str, ...], profile: str | None, replica: str | None, output: str) -> None:
    """Print a deployment with engines of its own; exit with the code of the command."""
    configure_logs(debug=False)
    namespace, _, name = deployment.partition("/")
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
