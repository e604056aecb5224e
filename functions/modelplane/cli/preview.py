"""`modelplane preview PATH...`: what manifests become on a control plane, without a cluster."""

import sys

import click
from rich.text import Text

from modelplane.cli.console import echo, printing, progress
from modelplane.cli.logs import configure_logs
from modelplane.preview import ControlPlane, InvalidObject
from modelplane.preview.report import BAD_INPUT, exit_code, refusals, report
from modelplane.reading.manifests import InvalidInput, LocatedObject, read_manifests
from modelplane.reading.tables import show, total
from modelplane.reading.trace import REPLICA, show_trace, trace
from modelplane.reading.tree import Manifest

_EXAMPLES = """\b
Examples:
  modelplane preview examples
  kubectl get modelplane -A -o yaml | modelplane preview - new.yaml
  modelplane preview examples -o json | jq '.deployments[].reasons'
  modelplane preview examples --trace ml/kimi-k2-1a2b3c4d
"""


@click.command("preview", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True, help="Format."
)
@click.option(
    "--trace",
    "traced",
    metavar="NAMESPACE/NAME",
    help="Show what this ModelReplica becomes instead: every object, and the rule behind it.",
)
def command(*, paths: tuple[str, ...], output: str, traced: str | None) -> None:
    """Show where the deployments in PATH... run, and why what cannot be placed is not.

    Each PATH is a file, a folder (every .yaml, .yml and .json in it at any depth) or - for standard input; files hold
    manifests or what kubectl exports. The functions of the control plane run here, on this machine; providers and
    clusters are simulated as healthy. Objects that have a status keep it.

    Exit code: 0 all placed, 1 something unplaced or refused, 2 bad input, 3 not settled.
    """
    configure_logs(debug=False)
    with progress("Reconciling"):
        control, faults = _load(paths)
        settled = not faults and control.settle()
    if faults:
        for fault in faults:
            click.echo(fault, err=True)
        sys.exit(BAD_INPUT)
    outcome = report(control, settled=settled)
    refused = refusals(control)
    if traced is not None:
        _trace(control, traced)
    elif output == "table":
        with printing() as console:
            show(console, control.view(), outcome["deployments"], refused)
            console.print(_verdict(outcome))
    else:
        echo(outcome, output)
    sys.exit(exit_code(outcome, refused))


def _trace(control: ControlPlane, replica: str) -> None:
    """Print what a replica, NAMESPACE/NAME, became; exit as for bad input when there is none of that name."""
    namespace, _, name = replica.partition("/")
    found = control.get(REPLICA, namespace, name)
    if found is None:
        names = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in control.list(REPLICA)]
        choice = f"choose one of {', '.join(names)}" if names else "no replica is placed"
        click.echo(f"ModelReplica {replica} does not exist; {choice}", err=True)
        sys.exit(BAD_INPUT)
    with printing() as console:
        show_trace(console, found, trace(control.view(), found))


def _verdict(outcome: Manifest) -> Text:
    placed = total(outcome["deployments"])
    passes = "1 pass" if outcome["passes"] == 1 else f"{outcome['passes']} passes"
    if not outcome["settled"]:
        return Text(f"{placed}; not settled after {passes}: placements still change", style="red")
    unplaced = any(deployment["unplaced"] for deployment in outcome["deployments"])
    return Text(f"{placed}; settled after {passes}", style="yellow" if unplaced else "green")


def _load(paths: tuple[str, ...]) -> tuple[ControlPlane, list[str]]:
    """Return a control plane with everything under paths, and one line for each object that it refuses."""
    control = ControlPlane()
    faults: list[str] = []
    try:
        for read in read_manifests(paths, sys.stdin):
            try:
                control.apply(read.obj)
            except InvalidObject as error:
                faults.append(str(_located(read, error)))
    except InvalidInput as error:
        faults.append(str(error))
    return control, faults


def _located(read: LocatedObject, error: InvalidObject) -> InvalidInput:
    line = read.source.line(error.field)
    return InvalidInput(read.source.file, line, f"{error.object}: {error.field}", error.why)
