"""Output of all commands: tables on a terminal or as plain lines, JSON, YAML, and progress on a terminal."""

import json
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
    """Yield a console for standard output: with the terminal's width and colors, else plain lines of a fixed width.

    Plain lines have no trailing spaces.
    """
    if sys.stdout.isatty():
        yield Console(highlight=False)
        return
    console = Console(width=_WIDTH, highlight=False)
    with console.capture() as captured:
        yield console
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


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
