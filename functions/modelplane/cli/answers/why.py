"""What `modelplane why` does once its arguments are read."""

from typing import Final

from modelplane.cli.console import echo, printing
from modelplane.cli.options import Where
from modelplane.cli.refs import parse_ref, refuse_unknown
from modelplane.cli.source import (
    NAMESPACES,
    ReadFleet,
    connect,
    get_object,
    namespace_of,
    own,
    read,
    read_live,
    saying_why,
)
from modelplane.reading.causes import as_json, explain_object
from modelplane.reading.causes_table import show_explanation
from modelplane.reading.kinds import OWN, Key
from modelplane.reading.unread import word_unread

#: The kinds that an explanation reads: clusters first, and the replicas that are on them last.
_KINDS: Final = (
    "InferenceCluster",
    "ClusterModel",
    "ModelCache",
    "ModelService",
    "ModelDeployment",
    "ModelReplica",
)
#: The kinds that only an explanation of their own reads.
_OTHERS: Final = ("InferenceClass", "InferenceGateway", "ManagedCluster", "ModelEndpoint", "ServingStack")


def explain(where: Where, ref: str, output: str) -> None:
    """Print why an object is as it is."""
    key = parse_ref(ref)
    with saying_why():
        found, key = _read(where, key)
    unread = word_unread(found.reader.unread.values())
    explained = explain_object(found.reader, key, (*found.gaps, *([unread] if unread else [])))
    if explained is None:
        refuse_unknown(found.reader, key, found.gaps)
    if output == "table":
        with printing() as console:
            show_explanation(console, explained)
    else:
        echo(as_json(explained), output)


def _read(where: Where, key: Key) -> tuple[ReadFleet, Key]:
    """Return what an explanation reads, and the key with its namespace."""
    kind = key.kind.partition(".")[0]
    namespaced = OWN[kind].namespaced
    if not where.live:
        return read(where, ()), key._replace(namespace=key.namespace or where.namespace or "default" * namespaced)
    kinds = [*_KINDS, *(each for each in _OTHERS if each == kind)]
    with connect(where) as server:
        namespace = key.namespace or (namespace_of(where, server) if namespaced else "")
        labels = get_object(server, NAMESPACES, "", namespace) if namespace else None
        wide = frozenset({"ModelReplica"})
        also = (labels,) if labels else ()
        found = read_live(server, map(own, kinds), namespace, wide=wide, also=also)
    return found, key._replace(namespace=namespace)
