"""What the commands about a fleet share: reading its manifests and reconciling them."""

import sys
from typing import Final

import click

from modelplane.cli.console import progress
from modelplane.cli.preview import load, warn_unread
from modelplane.preview import ControlPlane
from modelplane.preview.assumed import settle_assuming
from modelplane.preview.report import BAD_INPUT

#: The option that names the manifests.
from_option: Final = click.option(
    "--from", "paths", metavar="PATH", multiple=True, required=True, help="Manifests of the fleet, - for stdin."
)


def settled(paths: tuple[str, ...]) -> ControlPlane:
    """Return the settled fleet of these manifests; print the faults and exit if they cannot be read."""
    with progress("Reconciling"):
        control, _, faults = load(paths)
        if not faults:
            settle_assuming(control, [])
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        sys.exit(BAD_INPUT)
    warn_unread(control)
    return control
