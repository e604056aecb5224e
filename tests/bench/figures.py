"""What a benchmark says: figures with their limits and yardsticks, as a table or as JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from rich.console import Console
from rich.table import Table

from bench.pace import Pace

_TIMES = ("s", "ms")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value in `unit`; `yardstick` is what the same messages cost a bare function, in the same run.

    `compared` is what `limit` is about: the value, or its ratio to what the name states. No limit: shown only. `pace`
    is how much longer than the quiet machine, that limits in seconds were set on, this one took for anything meanwhile:
    of the processor where the value is the time of a `processor`.
    """

    name: str
    value: float
    unit: str
    yardstick: float | None = None
    compared: float | None = None
    limit: float | None = None
    pace: float = 1.0
    processor: bool = False

    @property
    def timed(self) -> bool:
        """Tell whether the limit is about a time, and not about a ratio or a size."""
        return self.limit is not None and self.unit in _TIMES and self.compared == self.value

    @property
    def allowed(self) -> float | None:
        """Return the limit at the pace that this machine had."""
        return self.limit * self.pace if self.limit is not None and self.timed else self.limit

    @property
    def ratio(self) -> float | None:
        """Return value over yardstick."""
        return self.value / self.yardstick if self.yardstick else None

    @property
    def met(self) -> bool:
        """Tell whether the limit holds."""
        return self.allowed is None or (self.compared is not None and self.compared <= self.allowed)


def at_most(name: str, value: float, limit: float, unit: str, yardstick: float | None = None) -> Figure:
    """Return a figure whose own value has a limit."""
    return Figure(name, value, unit, yardstick, compared=value, limit=limit)


def compared(name: str, value: float, to: float, limit: float, unit: str) -> Figure:
    """Return a figure whose ratio to `to`, its yardstick, has a limit."""
    return Figure(name, value, unit, to, compared=value / to, limit=limit)


def best(once: Iterable[Figure], again: Iterable[Figure]) -> list[Figure]:
    """Return of figures that were measured twice those that met their limit, the second ones where both or none did."""
    return [one if one.met and not two.met else two for one, two in zip(once, again, strict=True)]


def at_pace(figures: Iterable[Figure], pace: Callable[[], Pace]) -> Iterator[Figure]:
    """Yield figures as they are measured; those that are times with the pace of before or after, the slower one."""
    before = pace()
    for figure in figures:
        if figure.timed:
            after = pace()
            slower = max(each.processor if figure.processor else each.waited for each in (before, after))
            figure = replace(figure, pace=slower)  # noqa: PLW2901 - the same figure
            before = after
        yield figure


def to_json(figures: Iterable[Figure]) -> str:
    """Return the figures as JSON."""
    rows = [
        {**asdict(figure), "ratio": figure.ratio, "allowed": figure.allowed, "met": figure.met} for figure in figures
    ]
    return json.dumps({"met": all(row["met"] for row in rows), "figures": rows}, indent=2)


def print_table(figures: Sequence[Figure]) -> None:
    """Print the figures to standard output."""
    table = Table(title="Speed and memory", title_justify="left")
    table.add_column("figure")
    for column in ("measured", "yardstick", "ratio", "compared", "limit", "allowed"):
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
            "" if figure.allowed is None else f"{figure.allowed:,.2f}",
            "" if figure.limit is None else ("[green]met[/]" if figure.met else "[red]missed[/]"),
        )
    console = Console(width=150)
    console.print(table)
    for figure in figures:
        if not figure.met:  # once more where a log ends
            console.print(f"missed: {figure.name}: {figure.compared:,.2f}, allowed {figure.allowed:,.2f}")
