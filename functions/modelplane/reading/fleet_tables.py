"""A fleet (`reading.fleet`) as tables: totals first, then clusters, deployments and services, and what is not known."""

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Final

from rich.console import Console
from rich.text import Text

from modelplane.reading.deployments import ready_message
from modelplane.reading.fleet import DeviceCount, Fleet, FleetCluster, FleetPool, total_devices
from modelplane.reading.published import FleetCache, FleetGateway, FleetService, State
from modelplane.reading.tree import Manifest
from modelplane.scheduling.words import count

_STYLES: Final = {State.READY: "green", State.TAINTED: "yellow"}
#: Characters that a terminal obeys; in names and messages of others they are shown.
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")

#: The headings of each table.
CLUSTERS: Final = ("CLUSTER", "STATE", "POOL", "FREE NODES", "FREE DEVICES")
DEPLOYMENTS: Final = ("DEPLOYMENT", "PLACED", "SERVING", "WHERE, AND WHAT IT WAITS FOR")
SERVICES: Final = ("SERVICE", "ENDPOINTS", "KEYS", "URL, OR WHAT IT WAITS FOR")
CACHES: Final = ("CACHE", "READY", "SOURCE, AND WHAT IT WAITS FOR")
GATEWAYS: Final = ("GATEWAY", "STATE", "ADDRESS", "URL OF THE FLEET")

#: The cells of a row, and the text of its last one.
Row = tuple[Sequence[Text], str]


def show_fleet(console: Console, fleet: Fleet, *, wide: bool = False) -> None:
    """Print a fleet; `wide`: also the holders of pools, and each replica of the deployments."""
    parts = (count(len(fleet.clusters), "cluster"), count(len(fleet.deployments), "deployment"))
    console.print(Text(", ".join(parts), style="bold"))
    _show_totals(console, fleet.clusters)
    show_tables(console, fleet, wide=wide)
    show_unknown(console, fleet.unknown)


def show_part(console: Console, fleet: Fleet, part: str, *, wide: bool = False) -> None:
    """Print what `reading.fleet.select` returns for a part of the fleet."""
    if part == "fleet":
        show_fleet(console, fleet, wide=wide)
    else:
        show_tables(console, fleet, wide=wide, spaced=False)
        show_unknown(console, fleet.unknown)


def show_tables(console: Console, fleet: Fleet, *, wide: bool = False, spaced: bool = True) -> None:
    """Print the tables of a fleet, none for what there is nothing of; `spaced`: a line stands before the first, too."""
    tables: tuple[tuple[Sequence[str], Iterable[Row]], ...] = (
        (CLUSTERS, _clusters(fleet.clusters, wide=wide)),
        (DEPLOYMENTS, deployment_rows(fleet.deployments, wide=wide)),
        (SERVICES, map(service_row, fleet.services)),
        (CACHES, (row for cache in fleet.caches for row in cache_rows(cache, wide=wide))),
        (GATEWAYS, map(gateway_row, fleet.gateways)),
    )
    for headings, found in tables:
        rows = list(found)
        show_rows(console, headings, rows, spaced=spaced)
        spaced = spaced or bool(rows)


def show_unknown(console: Console, unknown: Sequence[str]) -> None:
    """Print what is not known, a sentence a line."""
    if unknown:
        console.print()
    for each in unknown:
        show_below(console, each, indent=0, style="yellow")


def show_clusters(console: Console, clusters: Sequence[FleetCluster]) -> None:
    """Print the devices of all clusters, then each cluster with the room of its pools."""
    _show_totals(console, clusters)
    show_rows(console, CLUSTERS, _clusters(clusters, wide=False), spaced=False)


def _show_totals(console: Console, clusters: Sequence[FleetCluster]) -> None:
    if totals := total_devices(clusters):
        console.print(shown("; ".join(f"{name}: {_total(devices)}" for name, devices in totals.items())))


def shown(value: str, style: str = "") -> Text:
    """Return a text with the characters shown that a terminal would obey."""
    return Text(_CONTROLS.sub(lambda found: ascii(found.group())[1:-1], value), style=style)


def _total(devices: DeviceCount) -> str:
    free = f"{devices.free} free"
    if devices.stranded:
        free += f", {devices.free - devices.stranded} of them in whole nodes"
    return f"{devices.claimed} of {devices.total} claimed, {free}"


def show_rows(console: Console, headings: Sequence[str], found: Iterable[Row], *, spaced: bool = True) -> None:
    """Print rows below headings, nothing for none. Only spaces are broken: what one copies stays whole.

    The last cell goes below its row, indented, where it does not fit beside it, and so do its further lines.
    """
    rows = list(found)
    if not rows:
        return
    widths = [max(len(row[0][at].plain) for row in [*rows, (_cells(*headings), "")]) for at in range(len(headings) - 1)]
    if spaced:
        console.print()
    for number, (cells, last) in enumerate([(_cells(*headings[:-1], style="dim"), headings[-1]), *rows]):
        line = Text("  ").join(_padded(cell, width) for cell, width in zip(cells, widths, strict=True))
        first, *others = last.split("\n")
        beside = len(line) + 2 + len(first) <= console.width
        if beside:
            line = Text("  ").join((line, shown(first, "" if number else "dim")))
        line.rstrip()
        console.print(line, soft_wrap=True)
        for part in others if beside else (first, *others):
            show_below(console, part)


def show_below(console: Console, text: str, *, indent: int = 2, style: str = "") -> None:
    """Print a text indented, in as many lines as it takes; only its spaces are broken."""
    room = max(1, console.width - indent)
    for line in wrap(shown(text).plain, room, break_long_words=False, break_on_hyphens=False):
        console.print(Text(" " * indent + line, style=style), soft_wrap=True)


def _cells(*texts: str, style: str = "") -> list[Text]:
    return [shown(each, style) for each in texts]


def _padded(cell: Text, width: int) -> Text:
    cell = cell.copy()
    cell.pad_right(width - len(cell))
    return cell


def _clusters(clusters: Iterable[FleetCluster], *, wide: bool) -> Iterator[Row]:
    """Yield the clusters with their pools, those that are not Ready first."""
    for cluster in sorted(clusters, key=lambda each: (each.state in _STYLES, each.name)):
        head = [shown(cluster.name), shown(cluster.state, _STYLES.get(cluster.state, "red"))]
        said = "; ".join(filter(None, (", ".join(cluster.taints), cluster.message)))
        if not cluster.pools:
            yield [*head, *_cells("-", "-")], said or "-"
        for pool in cluster.pools:
            free = _free(pool, wide=wide)
            last = "\n".join(filter(None, (free, said))) if pool is cluster.pools[0] else free
            yield [*head, *_cells(pool.name, f"{pool.nodes_free} of {pool.nodes}")], last
            head = _cells("", "")


def _free(pool: FleetPool, *, wide: bool) -> str:
    free = ", ".join(map(_free_devices, pool.devices.items())) or "-"
    return f"{free}\nheld by {', '.join(pool.holders)}" if wide and pool.holders else free


def _free_devices(named: tuple[str, DeviceCount]) -> str:
    name, devices = named
    stranded = f" ({devices.stranded} in no whole node)" if devices.stranded else ""
    return f"{name} {devices.free} of {devices.total}{stranded}"


def deployment_rows(found: Iterable[Manifest], *, wide: bool = False) -> Iterator[Row]:
    """Yield the deployments, those that serve as asked first; `wide`: with a line for each replica."""
    for each in sorted(found, key=lambda each: (bool(ready_message(each)), each["namespace"], each["name"])):
        placed, wanted = sum(not entry["leaving"] for entry in each["placed"]), each["replicas"]
        cells = (
            shown(f"{each['namespace']}/{each['name']}"),
            shown(f"{placed} of {wanted}", "red" if each["unplaced"] else ""),
            shown(str(each["serving"]), "green" if each["serving"] >= wanted else "yellow"),
        )
        where = ", ".join(sorted({entry["cluster"] for entry in each["placed"]}))
        replicas = map(_placement, each["placed"]) if wide else ()
        yield cells, "\n".join(filter(None, (where, *replicas, ready_message(each)))) or "-"


def _placement(entry: Manifest) -> str:
    pools = ", ".join(f"{engine} on {pool}" for engine, pool in sorted(entry["pools"].items()))
    state = "serving" if entry["serving"] else "ready" if entry["ready"] else "starting"
    said = (entry["cluster"], entry["name"], pools, entry["profile"], state, "leaving" if entry["leaving"] else "")
    return "  ".join(filter(None, said))


def service_row(each: FleetService) -> Row:
    """Return a service with how many of its endpoints take traffic, its keys, and its URL."""
    cells = _cells(f"{each.namespace}/{each.name}", f"{each.ready} of {each.total}", each.keys or "-")
    return cells, "; ".join(filter(None, (each.url, each.message))) or "-"


def cache_rows(each: FleetCache, *, wide: bool = False) -> Iterator[Row]:
    """Yield a cache with how many clusters have it, and what it waits for; `wide`: on every cluster."""
    rows = [
        f"{name}: {': '.join(filter(None, said))}"
        for name, said in sorted(each.clusters.items())
        if wide or said[0] != State.READY
    ]
    cells = [shown(f"{each.namespace}/{each.name}"), *_cells(each.ready or "-")]
    yield cells, "\n".join(filter(None, (each.source, "" if rows else each.message, *rows))) or "-"


def gateway_row(each: FleetGateway) -> Row:
    """Return a gateway with its state, its address, and the URL of the fleet."""
    cells = [shown(each.name), shown(each.state, _STYLES.get(each.state, "red")), *_cells(each.address or "-")]
    return cells, "; ".join(filter(None, (each.url, each.message))) or "-"
