"""A fleet (`reading.fleet`) as tables: totals first, then clusters, deployments and services, and what is not known."""

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Final

from rich.console import Console
from rich.text import Text

from modelplane.reading.deployments import ready_message
from modelplane.reading.fleet import DeviceCount, Fleet, FleetCluster, FleetPool, FleetService, State
from modelplane.reading.tree import Manifest
from modelplane.scheduling.words import count

_STYLES: Final = {State.READY: "green", State.TAINTED: "yellow"}
#: Characters that a terminal obeys; in names and messages of others they are shown.
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")

#: The cells of a row, and the text of its last one.
_Row = tuple[Sequence[Text], str]


def show_fleet(console: Console, fleet: Fleet) -> None:
    """Print a fleet."""
    parts = (count(len(fleet.clusters), "cluster"), count(len(fleet.deployments), "deployment"))
    console.print(Text(", ".join(parts), style="bold"))
    for name, devices in fleet.totals().items():
        console.print(_text(f"{name}: {_total(devices)}"))
    _print(console, ("CLUSTER", "STATE", "POOL", "FREE NODES", "FREE DEVICES"), _clusters(fleet.clusters))
    _print(
        console, ("DEPLOYMENT", "PLACED", "SERVING", "WHERE, AND WHAT IT WAITS FOR"), _deployments(fleet.deployments)
    )
    _print(console, ("SERVICE", "ENDPOINTS", "KEYS", "URL, OR WHAT IT WAITS FOR"), map(_service, fleet.services))
    if fleet.unknown:
        console.print()
    for each in fleet.unknown:
        console.print(_text(each, "yellow"))


def _text(value: str, style: str = "") -> Text:
    return Text(_CONTROLS.sub(lambda found: ascii(found.group())[1:-1], value), style=style)


def _total(devices: DeviceCount) -> str:
    free = f"{devices.free} free"
    if devices.stranded:
        free += f", {devices.free - devices.stranded} of them in whole nodes"
    return f"{devices.claimed} of {devices.total} claimed, {free}"


def _print(console: Console, headings: Sequence[str], found: Iterable[_Row]) -> None:
    """Print rows below headings, nothing for none. Only spaces are broken: what one copies stays whole.

    The last cell goes below its row, indented, where it does not fit beside it or has several lines.
    """
    rows = list(found)
    if not rows:
        return
    widths = [max(len(row[0][at].plain) for row in [*rows, (_cells(*headings), "")]) for at in range(len(headings) - 1)]
    console.print()
    for number, (cells, last) in enumerate([(_cells(*headings[:-1], style="dim"), headings[-1]), *rows]):
        line = Text("  ").join(_padded(cell, width) for cell, width in zip(cells, widths, strict=True))
        beside = "\n" not in last and len(line) + 2 + len(last) <= console.width
        if beside:
            line = Text("  ").join((line, _text(last, "" if number else "dim")))
        line.rstrip()
        console.print(line, soft_wrap=True)
        below = () if beside else last.split("\n")
        for part in below:
            for each in wrap(_text(part).plain, console.width - 2, break_long_words=False, break_on_hyphens=False):
                console.print(Text(f"  {each}"), soft_wrap=True)


def _cells(*texts: str, style: str = "") -> list[Text]:
    return [_text(each, style) for each in texts]


def _padded(cell: Text, width: int) -> Text:
    cell = cell.copy()
    cell.pad_right(width - len(cell))
    return cell


def _clusters(clusters: Iterable[FleetCluster]) -> Iterator[_Row]:
    """Yield the clusters with their pools, those that are not Ready first."""
    for cluster in sorted(clusters, key=lambda each: (each.state in _STYLES, each.name)):
        head = [_text(cluster.name), _text(cluster.state, _STYLES.get(cluster.state, "red"))]
        said = "; ".join(filter(None, (", ".join(cluster.taints), cluster.message)))
        if said or not cluster.pools:
            yield [*head, *_cells("-", "-")], said or "-"
            head = _cells("", "")
        for pool in cluster.pools:
            yield [*head, *_cells(pool.name, f"{pool.nodes_free} of {pool.nodes}")], _free(pool)
            head = _cells("", "")


def _free(pool: FleetPool) -> str:
    return ", ".join(map(_free_devices, pool.devices.items())) or "-"


def _free_devices(named: tuple[str, DeviceCount]) -> str:
    name, devices = named
    stranded = f" ({devices.stranded} in no whole node)" if devices.stranded else ""
    return f"{name} {devices.free} of {devices.total}{stranded}"


def _deployments(found: Iterable[Manifest]) -> Iterator[_Row]:
    """Yield the deployments, those that serve as asked first."""
    for each in sorted(found, key=lambda each: (bool(ready_message(each)), each["namespace"], each["name"])):
        placed, wanted = sum(not entry["leaving"] for entry in each["placed"]), each["replicas"]
        cells = (
            _text(f"{each['namespace']}/{each['name']}"),
            _text(f"{placed} of {wanted}", "red" if each["unplaced"] else ""),
            _text(str(each["serving"]), "green" if each["serving"] >= wanted else "yellow"),
        )
        where = ", ".join(sorted({entry["cluster"] for entry in each["placed"]}))
        yield cells, "\n".join(filter(None, (where, ready_message(each)))) or "-"


def _service(each: FleetService) -> _Row:
    cells = _cells(f"{each.namespace}/{each.name}", f"{each.ready} of {each.total}", each.keys or "-")
    return cells, "; ".join(filter(None, (each.url, each.message))) or "-"
