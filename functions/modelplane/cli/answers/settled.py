"""Reads the manifests of a fleet and reconciles them."""

import sys

import click

from modelplane.cli.answers.preview import load, warn_unread
from modelplane.cli.console import progress
from modelplane.preview import ControlPlane
from modelplane.preview.assumed import settle_assuming
from modelplane.preview.report import BAD_INPUT


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
