"""What `modelplane tree` does once its arguments are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import click

from modelplane.cli.console import echo, printing
from modelplane.cli.options import Where
from modelplane.cli.refs import parse_ref, refuse_unknown
from modelplane.cli.source import connect, located, namespace_of, own, read, read_live, saying_why
from modelplane.live import Resource, Server, ServerError
from modelplane.reading.composed_tree import Node, as_json, list_references, read_tree
from modelplane.reading.composed_tree_table import show_tree
from modelplane.reading.export import Export
from modelplane.reading.kinds import OWN, Key
from modelplane.reading.tree import Manifest

#: What is named, and never read.
_NOT_READ = frozenset({"Secret"})


def show(where: Where, ref: str, output: str) -> None:
    """Print what an object composes."""
    key = parse_ref(ref)
    namespaced = OWN[key.kind.partition(".")[0]].namespaced
    with saying_why():
        if where.live:
            reader, key = _read(where, key)
        else:
            reader = read(where, ()).reader
            key = key._replace(namespace=key.namespace or where.namespace or "default" * namespaced)
    node = read_tree(reader, key)
    if node is None:
        refuse_unknown(reader, key, ())
    if output == "name":
        for each in _all(node):
            click.echo(f"{each.kind}/{each.ref}")
    elif output in ("json", "yaml"):
        echo(as_json(node), output)
    else:
        with printing() as console:
            show_tree(console, node, wide=output == "wide")


def _all(node: Node) -> Iterator[Node]:
    yield node
    for part in node.parts:
        yield from _all(part)


def _read(where: Where, key: Key) -> tuple[Export, Key]:
    """Return an object and all that it composes, and its key with the namespace; if it is absent, all of its kind."""
    kind = key.kind.partition(".")[0]
    with connect(where) as server:
        namespace = key.namespace or (namespace_of(where, server) if OWN[kind].namespaced else "")
        key = key._replace(namespace=namespace)
        root = _Fetch(server).get(own(kind), namespace, key.name)
        if root is None:
            return read_live(server, [own(kind)], namespace).reader, key
        return Export(map(located, _Fetch(server).all_of(root))), key


@dataclass(slots=True)
class _Fetch:
    """Fetches objects one by one; kinds that may not be read, or are not there, are asked for once."""

    server: Server
    _resources: dict[str, dict[str, Resource]] = field(default_factory=dict)
    _closed: set[Resource] = field(default_factory=set)

    def all_of(self, obj: Manifest) -> Iterator[Manifest]:
        """Yield an object and what it composes, as far as it may be read."""
        yield obj
        for api_version, kind, key in list_references(obj):
            resource = None if kind in _NOT_READ else self._resource(api_version, kind)
            part = self.get(resource, key.namespace, key.name) if resource else None
            if part is not None:
                yield from self.all_of(part)

    def get(self, resource: Resource, namespace: str, name: str) -> Manifest | None:
        """Return an object, None where it is absent or may not be read."""
        if resource in self._closed:
            return None
        try:
            obj: Manifest = self.server.get(resource.path(namespace, name))
        except ServerError as error:
            if error.status == 403:
                self._closed.add(resource)
            elif error.status != 404:
                raise
            return None
        return obj

    def _resource(self, api_version: str, kind: str) -> Resource | None:
        """Return a kind as the API server has it, None if it does not."""
        if api_version not in self._resources:
            root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            try:
                found = self.server.get(root).get("resources") or ()
            except ServerError:
                found = ()
            self._resources[api_version] = {
                each["kind"]: Resource(api_version, each["kind"], each["name"], each["namespaced"])
                for each in found
                if "/" not in each["name"]
            }
        return self._resources[api_version].get(kind)
