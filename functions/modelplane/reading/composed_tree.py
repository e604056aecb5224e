"""What an object has become: the objects that it composes, what they become in turn, and how each stands."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from modelplane.model.names import GROUP
from modelplane.reading.deployments import condition, unmet_conditions
from modelplane.reading.kinds import Key, qualify
from modelplane.reading.reader import Reader
from modelplane.reading.trace import trace_object
from modelplane.reading.tree import Manifest, Tree, child, items

#: Name and version of the JSON that `as_json` returns.
TREE_VERSION: Final = "tree.modelplane.ai/v1alpha1"
#: Most levels; ours have five.
_DEEPEST: Final = 10


@dataclass(frozen=True, slots=True)
class Node:
    """An object: `rule` says why it exists, `message` what it lacks.

    `place` is the cluster where it stands, "" for the control cluster. `state` is Ready, NotReady or NotRead.
    """

    kind: str
    ref: str
    place: str
    state: str
    message: str
    rule: str
    parts: "tuple[Node, ...]" = ()


def read_tree(reader: Reader, key: Key) -> Node | None:
    """Return an object with all that it composes, None if there is none of that key."""
    obj = reader.get(*key)
    return None if obj is None else _node(reader, obj, 0)


def list_references(obj: Manifest) -> Iterator[tuple[str, str, Key]]:
    """Yield apiVersion, kind and key of each object that an object composes."""
    for ref in items(obj, "spec", "crossplane", "resourceRefs"):
        if all(isinstance(ref.get(field), str) for field in ("apiVersion", "kind", "name")):
            namespace = ref.get("namespace") or obj["metadata"].get("namespace") or ""
            kind = qualify(ref["apiVersion"], ref["kind"])
            yield ref["apiVersion"], ref["kind"], Key(kind, str(namespace), ref["name"])


def as_json(node: Node) -> Tree:
    """Return a tree as JSON of TREE_VERSION."""
    return {"apiVersion": TREE_VERSION, **_plain(node)}


def _plain(node: Node) -> Tree:
    return {**asdict(node), "parts": [_plain(each) for each in node.parts]}


def _node(reader: Reader, obj: Manifest, depth: int) -> Node:
    metadata = obj["metadata"]
    ref = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
    failed = unmet_conditions(obj)
    ready = condition(obj, "Ready").get("status") == "True" or not failed
    said = (
        "" if ready else "; ".join(f"{each.get('reason')}: {each.get('message') or ''}".strip(": ") for each in failed)
    )
    place = str(child(obj, "spec", "clusterName") or "")
    state = "Ready" if ready else "NotReady"
    parts = tuple(_parts(reader, obj, depth)) if depth < _DEEPEST else ()
    return Node(obj["kind"], ref, place, state, said, "", parts)


def _parts(reader: Reader, obj: Manifest, depth: int) -> Iterator[Node]:
    """Yield what an object composes, by place and name; of a replica whose objects were not read, its workloads."""
    found, unread = [], []
    for _, kind, key in list_references(obj):
        part = reader.get(*key)
        if part is None:
            unread.append(Node(kind, "/".join(filter(None, key[1:])), "", "NotRead", "", ""))
        elif part["apiVersion"].partition("/")[0] == GROUP:
            found.append(_node(reader, part, depth + 1))
        else:
            found.append(_leaf(part))
    yield from sorted(found, key=lambda each: (each.place, each.kind, each.ref))
    yield from unread
    if unread and obj["kind"] == "ModelReplica":
        yield from _workloads(obj)


def _leaf(obj: Manifest) -> Node:
    traced = trace_object(obj)
    kind, _, name = traced.name.partition(" ")
    unsynced = next(
        (condition(obj, kind) for kind in ("Synced", "Ready") if condition(obj, kind).get("status") == "False"), {}
    )
    said = "" if traced.ready else str(unsynced.get("message") or "")
    return Node(kind, name, traced.place, "Ready" if traced.ready else "NotReady", said, traced.rule)


def _workloads(replica: Manifest) -> Iterator[Node]:
    """Yield the workloads that a replica publishes."""
    for row in items(replica, "status", "workloads"):
        ready, desired = row.get("ready", 0), row.get("desired", 0)
        said = ": ".join(filter(None, (f"{ready} of {desired} ready", str(row.get("message") or ""))))
        place = str(child(replica, "spec", "clusterName") or "")
        state = "Ready" if ready == desired else "NotReady"
        yield Node(str(row.get("kind")), str(row.get("name")), place, state, said, "")
