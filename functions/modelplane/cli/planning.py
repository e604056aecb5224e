"""What `modelplane plan` and `drain` do once their arguments are read."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from modelplane.cli.answers.preview import warn_unread
from modelplane.cli.console import echo, printing, progress
from modelplane.cli.logs import configure_logs
from modelplane.cli.options import BAD_INPUT, Where
from modelplane.cli.plan import Edits
from modelplane.cli.source import ReadFleet, connect, own, read, read_live, saying_why
from modelplane.live import Server
from modelplane.planning import Apply, Delete, Drain, Edit, Plan, Scale, as_json, make_plan
from modelplane.planning.edits import CLUSTER, UnknownObjectError
from modelplane.planning.words import concerns, drain_command, drain_patch, show_plan
from modelplane.preview import ControlPlane, InvalidObject
from modelplane.preview.report import PLACED, REFUSED, UNSETTLED
from modelplane.reading.kinds import OWN
from modelplane.reading.manifests import read_manifests
from modelplane.reading.tree import Tree

#: Clusters first, replicas last: lists are no transaction, and a replica without its cluster would be one too many.
_KINDS = sorted(
    OWN, key=lambda kind: (kind == "ModelReplica", kind not in {"InferenceCluster", "InferenceClass"}, kind)
)


def show(where: Where, edits: Edits, output: str) -> None:
    """Print the plan of edits, and exit as it says."""
    with saying_why():
        manifests = [read.obj for read in read_manifests(edits.files, sys.stdin)] if edits.files else []
        deletes, scales = [Delete(*each) for each in edits.deletes], [Scale(*each) for each in edits.scales]
        if where.live:
            with connect(where) as server:
                applies = _admitted(server, manifests)
                found = _snapshot(server)
        else:
            applies, found = manifests, read(where, ())
    _, plan = _plan(found, [*map(Apply, applies), *deletes, *scales])
    _print(plan, output)
    _exit(plan)


def drain(where: Where, cluster: str, output: str, *, accepted: frozenset[str] | None) -> None:
    """Print the plan of a drain and exit as it says; taint the cluster where `accepted`, the losses, is not None."""
    with saying_why():
        if not where.live:
            control, plan = _plan(read(where, ()), [Drain(cluster)])
        else:
            with connect(where) as server:
                control, plan = _plan(_snapshot(server), [Drain(cluster)])
                if accepted is not None:
                    _print(plan, output)
                    _taint(server, cluster, plan, accepted)
                    _exit(plan)
    _print(plan, output)
    if output == "table":
        click.echo(drain_command(control.get(CLUSTER, None, cluster) or {}))
    _exit(plan)


def _snapshot(server: Server) -> ReadFleet:
    found = read_live(server, map(own, _KINDS), "")
    for gap in found.gaps:
        click.echo(gap, err=True)
    return found


def _plan(found: ReadFleet, edits: Sequence[Edit]) -> tuple[ControlPlane, Plan]:
    """Return the fleet as it was read and the plan of edits; say what is wrong, and exit, where one cannot be made."""
    configure_logs(debug=False)
    try:
        with progress("Planning"):
            control = ControlPlane(found.reader.everything())
            plan = make_plan(control, edits, found.as_of)
    except (InvalidObject, UnknownObjectError) as error:
        click.echo(str(error), err=True)
        sys.exit(BAD_INPUT)
    warn_unread(control)
    return control, plan


def _admitted(server: Server, manifests: Iterable[Any]) -> list[Tree]:
    """Return manifests as the API server would store them, with its defaults; raises KubectlError where it refuses one.

    Its own words say the field.
    """
    dry = ("apply", "--server-side", "--dry-run=server", "--force-conflicts", "-o", "json", "-f", "-")
    return [json.loads(server.kubectl.run(*dry, given=json.dumps(each))) for each in manifests]


def _taint(server: Server, cluster: str, plan: Plan, accepted: frozenset[str]) -> None:
    """Taint a cluster NoExecute, unless a loss is not accepted or a second look at the fleet gives another answer."""
    lost = [name for name in map("/".join, plan.lost()) if name not in accepted]
    if lost:
        flags = " ".join(f"--accept-loss {name}" for name in lost)
        click.echo(
            f"Not applied: {', '.join(lost)} would lose the last replica that serves; {flags} accepts it", err=True
        )
        sys.exit(REFUSED)
    control, again = _plan(_snapshot(server), [Drain(cluster)])
    if (again.certain, again.contested) != (plan.certain, plan.contested):
        click.echo("Not applied: the fleet has changed meanwhile, and the answer with it; look again", err=True)
        sys.exit(REFUSED)
    patch = drain_patch(control.get(CLUSTER, None, cluster) or {})
    click.echo(server.kubectl.run("patch", "inferencecluster", cluster, "--type=merge", "-p", patch).rstrip())


def _print(plan: Plan, output: str) -> None:
    if output == "table":
        with printing() as console:
            show_plan(console, plan)
    else:
        echo(as_json(plan), output)


def _exit(plan: Plan) -> None:
    sys.exit(UNSETTLED if not plan.settled else REFUSED if concerns(plan) else PLACED)
