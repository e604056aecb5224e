"""What `modelplane class` does once its arguments are read."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final, NoReturn

import click

from modelplane.cli.console import echo
from modelplane.cli.options import BAD_INPUT, Where
from modelplane.cli.refs import refuse_unknown
from modelplane.cli.source import connect, get_object, located, own, read, read_live, saying_why
from modelplane.kube.object import PROVIDER_API
from modelplane.live import Resource, Server
from modelplane.model.names import GROUP
from modelplane.reading.composed_tree import list_references
from modelplane.reading.export import Export
from modelplane.reading.kinds import Key
from modelplane.reading.published_class import build_classes, find_inventory
from modelplane.reading.tree import Manifest, items

_NOTHING: Final = 1
_OBJECTS: Final = Resource(PROVIDER_API, "Object", "objects", namespaced=True)


def show(where: Where, name: str, pool: str, output: str) -> None:
    """Print the InferenceClasses of the pools of a cluster, or of one pool."""
    with saying_why():
        reader = _read_live(where, name) if where.live else read(where, ()).reader
    key = Key(f"InferenceCluster.{GROUP}", "", name)
    cluster = reader.get(*key)
    if cluster is None:
        refuse_unknown(reader, key, ())
    inventory = find_inventory(reader, cluster)
    if isinstance(inventory, str):
        _end(f"InferenceCluster {name}: {inventory}", _NOTHING)
    declared = [str(each.get("name")) for each in items(cluster, "spec", "nodePools")]
    pools = list(dict.fromkeys((*declared, *inventory.groups)))
    if pool and pool not in pools:
        _end(f"InferenceCluster {name} has no pool {pool}; there are: {', '.join(pools) or 'none'}", BAD_INPUT)
    classes, notes = build_classes(reader, cluster, inventory, [pool] if pool else pools)
    for note in notes:
        click.echo(note, err=True)
    if not classes:
        sys.exit(_NOTHING)
    _print(classes, output)


def _print(classes: Sequence[Manifest], output: str) -> None:
    if output == "json":
        echo(classes[0] if len(classes) == 1 else {"apiVersion": "v1", "kind": "List", "items": classes}, output)
        return
    for index, each in enumerate(classes):
        if index:
            click.echo("---")
        echo(each, output)


def _end(why: str, code: int) -> NoReturn:
    click.echo(why, err=True)
    sys.exit(code)


def _read_live(where: Where, name: str) -> Export:
    """Return an InferenceCluster with its classes and Objects; if it is absent, all clusters. Raises LiveError."""
    kind = own("InferenceCluster")
    with connect(where) as server:
        cluster = get_object(server, kind, "", name)
        if cluster is None:
            return read_live(server, [kind], "").reader
        return Export(map(located, (cluster, *_parts(server, cluster))))


def _parts(server: Server, cluster: Manifest) -> Iterator[Manifest]:
    wanted = [(_OBJECTS, key.namespace, key.name) for _, kind, key in list_references(cluster) if kind == _OBJECTS.kind]
    names = {str(each.get("className")) for each in items(cluster, "spec", "nodePools")}
    wanted += [(own("InferenceClass"), "", each) for each in sorted(names)]
    for each in wanted:
        found = get_object(server, *each)
        if found is not None:
            yield found
