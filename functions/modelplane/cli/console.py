"""Output of all commands: tables on a terminal or as plain lines, JSON, YAML, and progress on a terminal."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

import click
import yaml
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

#: Columns of output that does not go to a terminal.
_WIDTH = 100
#: Seconds after which a terminal shows progress.
_PATIENCE = 2.0
#: Characters that a terminal obeys; names, selectors and messages are what others have written.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _Showing(Console):
    """A console that shows the characters that a terminal would obey."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is printed."""
        for each in super().render(renderable, options):
            text = _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], each.text)
            yield each if each.control else each._replace(text=text)


@contextmanager
def printing() -> Iterator[Console]:
    """Yield a console for standard output: with the terminal's width and colors, else plain lines.

    Plain lines have no trailing spaces, and the width that COLUMNS says; FORCE_COLOR and CLICOLOR_FORCE color them.
    """
    forced = True if os.environ.get("CLICOLOR_FORCE", "0") != "0" else None
    if sys.stdout.isatty():
        yield _Showing(highlight=False)
        return
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else _WIDTH
    console = _Showing(width=width, highlight=False, force_terminal=forced)
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
