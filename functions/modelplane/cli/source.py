"""Reads the fleet that a command is about, from files or from a control cluster, and says what could not be read."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import click

from modelplane.cli.options import BAD_INPUT, Where
from modelplane.live import Access, Listing, LiveError, Resource, Rights, Server, ServerError, list_objects, open_server
from modelplane.model.names import API_VERSION
from modelplane.reading.export import Export
from modelplane.reading.kinds import OWN
from modelplane.reading.manifests import InvalidInput, LocatedObject, Source, read_manifests
from modelplane.reading.tree import Manifest

#: What the sentences on kinds that may not be listed say of each.
_UNKNOWN: Final = {
    "InferenceCluster": "clusters and their room",
    "InferenceGateway": "the URL of the fleet",
    "ModelCache": "caches",
    "ModelDeployment": "deployments",
    "ModelService": "services and their URLs",
    "ModelReplica": "what each replica waits for",
    "ModelEndpoint": "what each endpoint waits for",
    "ClusterModel": "the profiles of models",
    "Object": "what stands on inference clusters",
}
#: The HTTP statuses of an object that is not there, or that may not be read.
_NOT_READ: Final = frozenset({403, 404})
NAMESPACES: Final = Resource("v1", "Namespace", "namespaces", namespaced=False)
_API: Final = Source("the control cluster", lambda: None)


@dataclass(frozen=True, slots=True)
class ReadFleet:
    """A fleet that was read, the time (RFC 3339), its namespace ("" for all), and sentences on what was not read.

    `listings` say how each kind was listed; there are none of files.
    """

    reader: Export
    as_of: str
    namespace: str
    gaps: tuple[str, ...] = ()
    listings: tuple[Listing, ...] = ()


def own(kind: str) -> Resource:
    """Return one of our kinds as the API server has it."""
    return Resource(API_VERSION, kind, OWN[kind].plural, OWN[kind].namespaced)


def located(obj: Manifest) -> LocatedObject:
    """Return an object of a control cluster as one that was read."""
    return LocatedObject(obj, _API)


def now() -> str:
    """Return the time, in seconds and UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def saying_why() -> Iterator[None]:
    """End the command with the whole text and exit code 2 where input is bad, or the control cluster is not reached."""
    try:
        yield
    except (InvalidInput, LiveError) as error:
        click.echo(str(error), err=True)
        sys.exit(BAD_INPUT)


@contextmanager
def connect(where: Where) -> Iterator[Server]:
    """Yield the API server that the options name."""
    with open_server(Access(where.context, where.kubeconfig, where.user)) as server:
        yield server


def namespace_of(where: Where, server: Server | None = None) -> str:
    """Return the namespace that the options name, "" for all; of files, all is the default."""
    if where.everywhere or where.namespace or server is None:
        return "" if where.everywhere else where.namespace
    return server.kubectl.namespace()


def read(where: Where, kinds: Iterable[Resource], *, wide: frozenset[str] = frozenset(), within: str = "") -> ReadFleet:
    """Return the fleet of files, or of a control cluster the objects of these kinds.

    Namespaced kinds are read in the namespace `within`, or of the options; those of `wide` in all namespaces where that
    is allowed. Raises InvalidInput and LiveError.
    """
    if where.live:
        with connect(where) as server:
            return read_live(server, kinds, within or namespace_of(where, server), wide=wide)
    return ReadFleet(Export(read_manifests(where.paths, sys.stdin)), now(), within or namespace_of(where))


def read_live(
    server: Server,
    kinds: Iterable[Resource],
    namespace: str,
    *,
    wide: frozenset[str] = frozenset(),
    also: Iterable[Manifest] = (),
) -> ReadFleet:
    """Return the objects of these kinds on a control cluster, listed in their order, and others. Raises LiveError."""
    as_of = now()
    listings = tuple(_list(server, each, namespace, wide=each.kind in wide) for each in kinds)
    if all(each.rights is Rights.ABSENT for each in listings):
        raise LiveError("the control cluster has no kinds of Modelplane: install it, or give another --context")
    if all(each.rights is not Rights.THERE for each in listings):
        raise LiveError("\n".join(dict.fromkeys(each.why for each in listings)))
    objects = (*also, *(obj for each in listings for obj in each.objects))
    gaps = tuple(_word(each) for each in listings if each.rights is not Rights.THERE)
    return ReadFleet(Export(map(located, objects)), as_of, namespace, gaps, listings)


def get_object(server: Server, resource: Resource, namespace: str, name: str) -> Manifest | None:
    """Return an object, None where there is none or it may not be read. Raises LiveError for anything else."""
    try:
        obj: Manifest = server.get(resource.path(namespace, name))
    except ServerError as error:
        if error.status in _NOT_READ:
            return None
        raise
    return obj


def _list(server: Server, resource: Resource, namespace: str, *, wide: bool) -> Listing:
    found = list_objects(server, resource, "" if wide or not resource.namespaced else namespace)
    if wide and namespace and found.rights is Rights.NOT_ALLOWED:
        return list_objects(server, resource, namespace)
    return found


def _word(listing: Listing) -> str:
    resource, within = listing.resource, f" in namespace {listing.namespace}" if listing.namespace else ""
    unknown = f"{_UNKNOWN.get(resource.kind, resource.plural)}: not known"
    if listing.rights is Rights.ABSENT:
        return f"{unknown}, because the control cluster has no kind {resource.kind} ({resource.api_version})"
    return f"{unknown}, because {resource.plural} may not be listed{within} ({listing.why})"
