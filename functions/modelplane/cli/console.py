"""Output of all commands: tables on a terminal or as plain lines, JSON, YAML, and progress on a terminal."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import click
import yaml
from rich.console import Console

#: Columns of output that does not go to a terminal.
_WIDTH = 100
#: Seconds after which a terminal shows progress.
_PATIENCE = 2.0


@contextmanager
def printing() -> Iterator[Console]:
    """Yield a console for standard output: with the terminal's width and colors, else plain lines.

    Plain lines have no trailing spaces, and the width that COLUMNS says; FORCE_COLOR and CLICOLOR_FORCE color them.
    """
    forced = True if os.environ.get("CLICOLOR_FORCE", "0") != "0" else None
    if sys.stdout.isatty():
        yield Console(highlight=False)
        return
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else _WIDTH
    console = Console(width=width, highlight=False, force_terminal=forced)
    with console.capture() as captured:
        yield console
    for line in captured.get().splitlines():
        click.echo(line.rstrip(), color=console.is_terminal or None)


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show on a terminal what a command is `doing`, once it takes longer than `_PATIENCE`."""
    console = Console(stderr=True)
    status = console.status(f"{doing} ...")
    timer = Timer(_PATIENCE, status.start)
    if console.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()  # it may just be about to show it
        status.stop()


def echo(value: object, output: str) -> None:
    """Print a value of plain JSON types as `output`, json or yaml."""
    if output == "yaml":
        click.echo(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True), nl=False)
    else:
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))


class _Dumper(yaml.SafeDumper):
    """YAML without anchors: an object that occurs twice is written twice."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Write everything out."""
        return True
