"""What `modelplane get` does once its arguments are read."""

from collections.abc import Sequence
from typing import Final

import click

from modelplane.cli.answers.watch import Rows, watch
from modelplane.cli.console import echo, printing
from modelplane.cli.get import PARTS
from modelplane.cli.options import Where
from modelplane.cli.refs import KIND_OF, refs, refuse_absent
from modelplane.cli.source import ReadFleet, own, read, saying_why
from modelplane.reading.fleet import Fleet, as_json, read_fleet, select
from modelplane.reading.fleet_tables import show_part

#: The kinds that each part is read from, clusters first: lists are no transaction.
_KINDS: Final = {
    "fleet": ("InferenceCluster", "InferenceGateway", "ModelDeployment", "ModelService", "ModelCache"),
    "clusters": ("InferenceCluster",),
    "deployments": ("ModelDeployment", "ModelService"),
    "services": ("ModelService",),
    "caches": ("ModelCache",),
}


def parse(what: Sequence[str]) -> tuple[str, str, str]:
    """Return the part, the namespace and the name of the arguments; a name alone is a deployment's."""
    first, second, *more = (*what, "", "")
    if any(more) or (second and first not in PARTS):
        raise click.UsageError(f"{' '.join(what)}: give one of {', '.join(dict.fromkeys(PARTS.values()))}, and a name")
    part, name = (PARTS[first], second) if first in PARTS else ("deployments" if first else "fleet", first)
    if name and part == "fleet":
        raise click.UsageError(f"fleet {name}: the fleet has no names; say, for example, clusters {name}")
    namespace, _, name = name.rpartition("/")
    return part, namespace, name


def show(where: Where, rows: Rows, output: str, *, objects: bool) -> None:
    """Print a part of the fleet, or the one object of a name."""
    with saying_why():
        found = read(where, map(own, _KINDS[rows.part]), within=rows.namespace)
    fleet = read_fleet(found.reader, found.as_of, found.gaps, residents_read=not where.live)
    shown = select(fleet, rows.part, found.namespace, rows.name)
    if rows.name and not any(refs(shown)):
        within = f"{found.namespace}/" if found.namespace and rows.part != "clusters" else ""
        listed = [ref for part, ref in refs(fleet) if part == rows.part]
        how = f"modelplane get {rows.part} -A"
        refuse_absent(KIND_OF[rows.part], within + rows.name, listed, how, fleet.unknown)
    _print(found, shown, rows.part, output, objects=objects)


def follow(where: Where, rows: Rows) -> None:
    """Print a part of the fleet, and the rows that change."""
    with saying_why():
        watch(where, _KINDS[rows.part], rows)


def _print(found: ReadFleet, fleet: Fleet, part: str, output: str, *, objects: bool) -> None:
    if output == "name":
        for of, ref in refs(fleet):
            click.echo(f"{KIND_OF[of]}/{ref}")
    elif output in ("json", "yaml"):
        every = {"objects": [dict(obj) for obj in found.reader.everything()]} if objects else {}
        echo(as_json(fleet) | every, output)
    else:
        with printing() as console:
            show_part(console, fleet, part, wide=output == "wide")
            if found.namespace and not any((fleet.clusters, fleet.deployments, fleet.services, fleet.caches)):
                console.print(f"Nothing in namespace {found.namespace}; -A shows all namespaces.", markup=False)
