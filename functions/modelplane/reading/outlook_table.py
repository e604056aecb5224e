"""The outlook for a ClusterModel as a table: its profiles in three groups, each in the order of preference."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modelplane.reading.tree import Manifest
from modelplane.scheduling.words import count, remedies_of

#: The groups by state: the heading, and how it is shown.
_GROUPS: Final = {
    "Now": ("Can run now", "green"),
    "IfSomethingGoes": ("Only if something goes", "yellow"),
    "Never": ("Never, as the fleet is", "red"),
}

#: The reason of a profile for which no pool has enough nodes: nodes have to be added, and no replica has to go.
_FULL: Final = "NoRoom"


def show_outlooks(console: Console, outlooks: Manifest) -> None:
    """Print what `reading.outlook.find_outlooks` returns."""
    for state, (heading, style) in _GROUPS.items():
        rows = [each for each in outlooks["profiles"] if each["state"] == state]
        if not rows:
            continue
        console.print(Text(heading, style=f"bold {style}"))
        console.print(_table(rows))
        if state == "Never":
            for remedy in remedies_of({reason["reason"] for row in rows for reason in row["reasons"]} - {_FULL}):
                console.print(Text(remedy, style="yellow"))
        console.print()


def _table(rows: Iterable[Manifest]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("PROFILE", no_wrap=True)
    table.add_column("REPLICAS", justify="right")
    table.add_column("WHERE, OR WHY NOT", overflow="fold")
    for row in rows:
        table.add_row(row["name"], str(row["replicas"]), Text("\n".join(_lines(row))))
    return table


def _lines(row: Manifest) -> Iterable[str]:
    """Yield where one more replica would run and which replicas have to go first, or why it never would."""
    if row["cluster"]:
        pools = ", ".join(f"{engine} on {pool}" for engine, pool in sorted(row["pools"].items()))
        yield f"{row['cluster']}: {pools}"
        owners = ", ".join(f"{each['namespace']}/{each['name']}" for each in row["frees"])
        yield from (f"without {replica}" for replica in row["freedReplicas"])
        if row["freesOwn"]:
            yield "The model's own replicas: nothing else that goes leaves room. Add nodes."
        elif owners:
            yield f"Scale down {owners}."
        return
    for reason in row["reasons"]:
        clusters = f"{count(reason['count'], 'cluster')}: " if reason["count"] else ""
        yield clusters + reason["message"]
