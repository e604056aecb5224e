"""What a benchmark says: figures with their limits and yardsticks, as a table or as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value in `unit`; `yardstick` is what the same messages cost a bare function, in the same run.

    `compared` is what `limit` is about: the value, or its ratio to what the name states. No limit: shown only.
    """

    name: str
    value: float
    unit: str
    yardstick: float | None = None
    compared: float | None = None
    limit: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return value over yardstick."""
        return self.value / self.yardstick if self.yardstick else None

    @property
    def met(self) -> bool:
        """Tell whether the limit holds."""
        return self.limit is None or (self.compared is not None and self.compared <= self.limit)


def at_most(name: str, value: float, limit: float, unit: str, yardstick: float | None = None) -> Figure:
    """Return a figure whose own value has a limit."""
    return Figure(name, value, unit, yardstick, compared=value, limit=limit)


def compared(name: str, value: float, to: float, limit: float, unit: str) -> Figure:
    """Return a figure whose ratio to `to`, its yardstick, has a limit."""
    return Figure(name, value, unit, to, compared=value / to, limit=limit)


def best(once: Iterable[Figure], again: Iterable[Figure]) -> list[Figure]:
    """Return of figures that were measured twice those that met their limit, the second ones where both or none did."""
    return [one if one.met and not two.met else two for one, two in zip(once, again, strict=True)]


def to_json(figures: Iterable[Figure]) -> str:
    """Return the figures as JSON."""
    rows = [{**asdict(figure), "ratio": figure.ratio, "met": figure.met} for figure in figures]
    return json.dumps({"met": all(row["met"] for row in rows), "figures": rows}, indent=2)


def print_table(figures: Sequence[Figure]) -> None:
    """Print the figures to standard output."""
    table = Table(title="Speed and memory", title_justify="left")
    table.add_column("figure")
    for column in ("measured", "yardstick", "ratio", "compared", "limit"):
        table.add_column(column, justify="right")
    table.add_column("")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.value:,.2f} {figure.unit}",
            "" if figure.yardstick is None else f"{figure.yardstick:,.2f} {figure.unit}",
            "" if figure.ratio is None else f"{figure.ratio:.2f}",
            "" if figure.compared is None else f"{figure.compared:,.2f}",
            "" if figure.limit is None else f"{figure.limit:,.2f}",
            "" if figure.limit is None else ("[green]met[/]" if figure.met else "[red]missed[/]"),
        )
    Console(width=140).print(table)
