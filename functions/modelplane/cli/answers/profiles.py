"""What `modelplane profiles` does once its arguments are read."""

import sys
from collections.abc import Iterator
from typing import Final

import click
from rich.console import Console

from modelplane.cli.console import echo, printing
from modelplane.cli.options import Where
from modelplane.cli.source import connect, namespace_of, own, read_live, saying_why
from modelplane.reading.fleet_tables import Row, show_rows, shown
from modelplane.reading.outlook import NoModelError, find_all_outlooks, find_outlooks
from modelplane.reading.outlook_table import show_outlooks
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest

_ABSENT: Final = 1
_KINDS: Final = ("InferenceCluster", "ClusterModel", "ModelReplica")


def show(where: Where, model: str | None, output: str) -> None:
    """Print the outlook for a ClusterModel, or for all."""
    with saying_why():
        reader, namespace = _read(where)
    try:
        found: Manifest = find_outlooks(reader, model, namespace) if model else _all(reader, namespace)
    except NoModelError as error:
        click.echo(str(error), err=True)
        sys.exit(_ABSENT)
    if output in ("json", "yaml"):
        echo(found, output)
        return
    with printing() as console:
        if model:
            show_outlooks(console, found)
        else:
            _show_all(console, found)


def _all(reader: Reader, namespace: str) -> Manifest:
    return {"models": find_all_outlooks(reader, namespace)}


def _read(where: Where) -> tuple[Reader, str]:
    """Return the fleet, and the namespace that would deploy the model."""
    if where.live:
        with connect(where) as server:
            namespace = namespace_of(where, server) or "default"
            found = read_live(server, map(own, _KINDS), namespace, wide=frozenset({"ModelReplica"}))
        for gap in found.gaps:
            click.echo(gap, err=True)
        return found.reader, namespace
    from modelplane.cli.answers.settled import settled
    from modelplane.cli.logs import configure_logs

    configure_logs(debug=False)
    return settled(where.paths).view(), where.namespace or "default"


def _show_all(console: Console, found: Manifest) -> None:
    """Print each profile of each model in a row."""
    show_rows(console, ("MODEL", "PROFILE", "REPLICAS", "STATE", "WHERE, OR WHY NOT"), _rows(found), spaced=False)


def _rows(found: Manifest) -> Iterator[Row]:
    for each in found["models"]:
        for row in each["profiles"]:
            pools = ", ".join(f"{engine} on {pool}" for engine, pool in sorted(row["pools"].items()))
            where = f"{row['cluster']}: {pools}" if row["cluster"] else ""
            freed = ", ".join(row["freedReplicas"])
            why = "; ".join(reason["message"] for reason in row["reasons"]) if not row["cluster"] else ""
            said = "\n".join(filter(None, (where, f"without {freed}" if freed else "", why))) or "-"
            yield [shown(each["model"]), shown(row["name"]), shown(str(row["replicas"])), shown(row["state"])], said
