"""The console that tables are printed on: a terminal's own width and colors, else plain lines of a fixed width."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console

#: Columns of what goes to no terminal.
_WIDTH = 100


@contextmanager
def printing() -> Iterator[Console]:
    """Give a console for standard output; what goes to no terminal has no blanks at the ends of its lines."""
    if sys.stdout.isatty():
        yield Console(highlight=False)
        return
    console = Console(width=_WIDTH, highlight=False)
    with console.capture() as captured:
        yield console
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
