"""`modelplane get -w`: the fleet once, then the rows that change."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

import click
from rich.console import Console

from modelplane.cli.console import printing
from modelplane.cli.options import Where
from modelplane.cli.refs import KIND_OF, refs
from modelplane.cli.source import ReadFleet, connect, located, namespace_of, now, own, read_live
from modelplane.live import Listing, LiveError, Rights, Server
from modelplane.live.watching import Change, follow
from modelplane.reading.export import Export
from modelplane.reading.fleet import Fleet, find_changes, read_fleet, select
from modelplane.reading.fleet_tables import show_part, show_tables, show_unknown
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.tree import Manifest

#: Seconds that changes are collected before rows are printed, and after which a broken watch is begun again.
_COLLECT: Final = 0.5
_AGAIN: Final = 5.0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows to watch: a part of the fleet, a namespace ("" for that of the options), a name ("" for all)."""

    part: str
    namespace: str
    name: str
    wide: bool


def watch(where: Where, kinds: Sequence[str], rows: Rows) -> None:
    """Print the fleet, then what changes, until it is interrupted. Raises LiveError if it cannot be read at first."""
    shown: Fleet | None = None
    stale = False
    while True:
        try:
            with connect(where) as server:
                found = read_live(server, map(own, kinds), rows.namespace or namespace_of(where, server))
                for fleet in _fleets(server, found, rows):
                    if stale:
                        click.echo(f"current again at {fleet.as_of}", err=True)
                        stale = False
                    _print(shown, fleet, rows)
                    shown = fleet
        except LiveError as error:
            if shown is None:
                raise
            if not stale:
                click.echo(f"stale since {now()}: {error}", err=True)
                stale = True
            time.sleep(_AGAIN)


def _fleets(server: Server, found: ReadFleet, rows: Rows) -> Iterator[Fleet]:
    """Yield the fleet as it is, and after every change. Raises LiveError when a watch breaks."""
    queue: SimpleQueue[Change | LiveError] = SimpleQueue()
    objects: dict[Key, Manifest] = {key_of(obj): obj for each in found.listings for obj in each.objects}
    yield _fleet(found, objects, rows)
    for each in found.listings:
        if each.rights is Rights.THERE:
            _start(server, each, queue)
    while True:
        for change in _collected(queue):
            if isinstance(change, LiveError):
                raise change
            obj, deleted = change
            objects.pop(key_of(obj), None) if deleted else objects.update({key_of(obj): obj})
        yield _fleet(found, objects, rows)


def _start(server: Server, listing: Listing, queue: "SimpleQueue[Change | LiveError]") -> None:
    threading.Thread(target=follow, args=(server, listing, queue.put), daemon=True).start()


def _collected(queue: "SimpleQueue[Change | LiveError]") -> Iterator[Change | LiveError]:
    """Yield the next change, and those that come soon after it."""
    yield queue.get()
    until = time.monotonic() + _COLLECT
    while (left := until - time.monotonic()) > 0:
        try:
            yield queue.get(timeout=left)
        except Empty:
            return


def _fleet(found: ReadFleet, objects: dict[Key, Manifest], rows: Rows) -> Fleet:
    reader = Export(map(located, objects.values()))
    fleet = read_fleet(reader, now(), found.gaps, residents_read=False)
    return select(fleet, rows.part, found.namespace, rows.name)


def _print(before: Fleet | None, fleet: Fleet, rows: Rows) -> None:
    """Print a fleet, or what has changed in it."""
    with printing() as console:
        if before is None:
            show_part(console, fleet, rows.part, wide=rows.wide)
        else:
            _print_changes(console, before, fleet, rows)


def _print_changes(console: Console, before: Fleet, fleet: Fleet, rows: Rows) -> None:
    changes = find_changes(before, fleet)
    gone = sorted({*refs(before)} - {*refs(fleet)})
    if not gone and changes == find_changes(fleet, fleet):
        return
    console.print(f"\n{fleet.as_of}", style="bold")
    show_tables(console, changes, wide=rows.wide)
    show_unknown(console, changes.unknown)
    for part, ref in gone:
        console.print(f"gone: {KIND_OF[part]} {ref}", markup=False, soft_wrap=True)
