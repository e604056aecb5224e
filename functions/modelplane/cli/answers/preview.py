"""What `modelplane preview` does once its arguments are read."""

import os
import sys
from collections.abc import Sequence
from typing import Final

import click
from rich.text import Text

from modelplane.cli.console import echo, printing, progress
from modelplane.cli.logs import configure_logs
from modelplane.kube.images import Image
from modelplane.model.names import LABEL_DEPLOYMENT
from modelplane.preview import ControlPlane, InvalidObject
from modelplane.preview.assumed import settle_assuming
from modelplane.preview.others import is_refused
from modelplane.preview.report import BAD_INPUT, exit_code, refusals, report, serves
from modelplane.preview.slips import find_slip
from modelplane.reading.deployments import DEPLOYMENT, condition
from modelplane.reading.kinds import Key
from modelplane.reading.manifests import InvalidInput, LocatedObject, read_manifests
from modelplane.reading.tables import named, show, total, without_choices
from modelplane.reading.trace import REPLICA, find_choice, show_trace, trace
from modelplane.reading.tree import Manifest, mapping
from modelplane.reading.unread import word_unread

#: Most objects that the last line names.
_NAMED: Final = 3


def preview(paths: tuple[str, ...], output: str, traced: str | None, *, strict: bool) -> None:
    """Print what manifests become; exit with the code of the outcome."""
    configure_logs(debug=False)
    # The packages of an installation name it.
    os.environ[Image.MODELPLANE.variable] = Image.MODELPLANE.reference
    assumed: list[Key] = []
    with progress("Reconciling"):
        control, given, faults = load(paths)
        settled = not faults and (control.settle() if strict else settle_assuming(control, assumed))
    if faults:
        for fault in faults:
            click.echo(fault, err=True)
        sys.exit(BAD_INPUT)
    outcome = report(control, settled=settled, given=given, assumed=assumed)
    warn_unread(control)
    refused = refusals(control)
    if traced is not None:
        _trace(control, traced)
    elif output in ("table", "wide"):
        with printing() as console:
            placed = outcome["deployments"] if output == "wide" else without_choices(outcome["deployments"])
            show(console, control.view(), placed, refused, outcome["others"])
            console.print(_verdict(outcome, refused))
    else:
        echo(outcome, output)
    if assumed:
        click.echo(_assumption(assumed), err=True)
    sys.exit(exit_code(outcome, refused))


def _assumption(assumed: Sequence[Key]) -> str:
    names = ", ".join(f"{key.kind} {key.namespace}/{key.name}" for key in assumed)
    return f"Not in the input and assumed to exist: {names} (--strict takes them for missing)"


def _trace(control: ControlPlane, name: str) -> None:
    """Print the objects of a deployment's replicas, or of one replica; exit as for bad input if there is neither.

    A name without a namespace is accepted if it is unique.
    """
    replicas, deployments = control.list(REPLICA), control.list(DEPLOYMENT)
    names = {_deployment(each) or _identity(each) for each in replicas} | {*map(_identity, deployments)}
    if "/" not in name:
        alike = [each for each in (*names, *map(_identity, replicas)) if each.partition("/")[2] == name]
        name = alike[0] if len({*alike}) == 1 else name
    found = [each for each in replicas if name in (_identity(each), _deployment(each))]
    unplaced = next((each for each in deployments if _identity(each) == name), None)
    if not found and unplaced is not None:
        why = condition(unplaced, "ReplicasScheduled").get("message", "not reconciled")
        click.echo(f"ModelDeployment {name} has no replica to show: {why}", err=True)
    elif not found:
        choice = f"choose one of {', '.join(sorted(names))}" if names else "nothing is given that becomes any"
        click.echo(f"no ModelDeployment or ModelReplica {name} has anything to show; {choice}", err=True)
        sys.exit(BAD_INPUT)
    with printing() as console:
        for each in found:
            show_trace(console, each, trace(control.view(), each), find_choice(control.view(), each))


def _identity(obj: Manifest) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def _deployment(replica: Manifest) -> str:
    """Return the deployment of a replica, NAMESPACE/NAME, "" for a hand-written one."""
    name = mapping(replica, "metadata", "labels").get(LABEL_DEPLOYMENT)
    return f"{replica['metadata']['namespace']}/{name}" if name else ""


def _verdict(outcome: Manifest, refused: Sequence[tuple[str, str]]) -> Text:
    """Return how it ended, and what makes the exit code 1 although everything is placed."""
    placed = total(outcome["deployments"])
    passes = "1 pass" if outcome["passes"] == 1 else f"{outcome['passes']} passes"
    if not outcome["settled"]:
        return Text(f"{placed}; not settled after {passes}: placements still change", style="red")
    unplaced = any(deployment["unplaced"] for deployment in outcome["deployments"])
    waiting = [f"{each['namespace']}/{each['name']}" for each in outcome["deployments"] if not serves(each)]
    waiting += [named(row) for row in outcome["others"] if is_refused(row)]
    waiting = [*dict.fromkeys([name for name, _ in refused] + waiting)]
    text = f"{placed}; settled after {passes}"
    if unplaced or not waiting:
        return Text(text, style="yellow" if unplaced else "green")
    more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
    return Text(f"{text}; not Ready: {', '.join(waiting[:_NAMED])}{more}", style="yellow")


def warn_unread(control: ControlPlane) -> None:
    """Say on standard error of which clusters the input has not all ModelReplicas."""
    if unread := word_unread(control.unread()):
        click.echo(unread, err=True)


def load(paths: tuple[str, ...]) -> tuple[ControlPlane, list[Key], list[str]]:
    """Return a control plane with all objects under paths, their keys, and a line for each refused object."""
    control = ControlPlane()
    given: list[Key] = []
    faults: list[str] = []
    try:
        for read in read_manifests(paths, sys.stdin):
            field, why = find_slip(read.obj, read.source.file)
            if why:
                faults.append(str(InvalidInput(read.source.file, read.source.line(field), field, why)))
                continue
            try:
                given.append(control.apply(read.obj))
            except InvalidObject as error:
                faults.append(str(_located(read, error)))
    except InvalidInput as error:
        faults.append(str(error))
    return control, given, faults


def _located(read: LocatedObject, error: InvalidObject) -> InvalidInput:
    line = read.source.line(error.field)
    return InvalidInput(read.source.file, line, f"{error.object}: {error.field}", error.why)
