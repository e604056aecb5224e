"""What `modelplane capacity` does once its arguments are read."""

import sys
from dataclasses import dataclass
from typing import Final

import click
from rich.console import Console

from modelplane.cli.console import echo, printing
from modelplane.cli.options import BAD_INPUT, Where
from modelplane.cli.refs import parse_ref, refuse_unknown
from modelplane.cli.source import ReadFleet, own, read, saying_why
from modelplane.model.names import GROUP
from modelplane.reading.fleet import read_clusters, word_unknown
from modelplane.reading.fleet_tables import show_below, show_clusters, show_rows, show_unknown, shown
from modelplane.reading.kinds import Key
from modelplane.reading.more_room import MoreRoom, as_json, count_more, shape_of
from modelplane.scheduling.words import count

_DEPLOYMENT: Final = f"ModelDeployment.{GROUP}"


@dataclass(frozen=True, slots=True)
class Shape:
    """One engine: devices on each of its nodes, the nodes, and the selector of the devices ("" for any)."""

    gpus: int
    nodes: int
    selector: str

    def __str__(self) -> str:
        """Return the shape in words."""
        which = f" that match {self.selector}" if self.selector else ""
        return f"one engine of {count(self.gpus, 'device')}{which} on {count(self.nodes, 'node')}"


def measure(where: Where, shape: Shape | None, name: str, output: str) -> None:
    """Print what is free, and how many more replicas of a shape or of the deployment of a name fit."""
    key = parse_ref(name) if name else None
    if key is not None and key.kind != _DEPLOYMENT:
        raise click.UsageError(f"{name}: give [NAMESPACE/]NAME of a ModelDeployment")
    kinds = ["InferenceCluster", *(("ClusterModel", "ModelCache", "ModelDeployment") if key else ())]
    with saying_why():
        found = read(where, map(own, kinds), within=key.namespace if key else "")
    more = _more_room(found, shape, key)
    if isinstance(more, str):
        click.echo(f"{name or shape}: {more}", err=True)
        sys.exit(BAD_INPUT)
    clusters = read_clusters(found.reader)
    unknown = (*found.gaps, *word_unknown(found.reader, residents_read=not where.live))
    if output in ("json", "yaml"):
        echo(as_json(clusters, more, unknown), output)
        return
    with printing() as console:
        if more is None:
            show_clusters(console, clusters)
        else:
            _show(console, more)
        show_unknown(console, unknown)


def _more_room(found: ReadFleet, shape: Shape | None, key: Key | None) -> MoreRoom | str | None:
    namespace = (key.namespace if key else "") or found.namespace or "default"
    if shape is not None:
        made = shape_of(shape.gpus, shape.nodes, shape.selector, namespace)
        return count_more(found.reader, made, str(shape))
    if key is None:
        return None
    key = key._replace(namespace=namespace)
    deployment = found.reader.get(*key)
    if deployment is None:
        refuse_unknown(found.reader, key, found.gaps)
    return count_more(found.reader, deployment, f"{key.namespace}/{key.name}")


def _show(console: Console, more: MoreRoom) -> None:
    """Print how many more fit, by cluster and pools, and why the other clusters take none."""
    console.print(shown(f"{more.total} more of {more.shape}", "green" if more.total else "red"))
    rows = (
        ([shown(fit.cluster), shown(str(fit.count)), shown(fit.profile or "-")], ", ".join(fit.pools))
        for fit in more.fits
    )
    show_rows(console, ("CLUSTER", "MORE", "PROFILE", "POOLS"), rows)
    if more.refusals:
        console.print("\nNo more:")
    for each in more.refusals:
        profile = f"profile {each.profile}: " if each.profile else ""
        show_below(console, f"{each.cluster}: {profile}{each.message}")
