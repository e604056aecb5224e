"""The objects of the offline control plane: what an API server would hold, with a logical clock for time."""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from types import MappingProxyType
from typing import Final

from modelplane.model.names import GROUP, LABEL_CLUSTER
from modelplane.preview.links import Links
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.reader import as_object
from modelplane.reading.table import Table
from modelplane.reading.trace import REPLICA
from modelplane.reading.tree import Manifest, Tree, mapping
from modelplane.reading.unread import Unread, find_unread

_CLUSTER: Final = f"InferenceCluster.{GROUP}"
#: The clock's start. It advances a second per write, and to every later creation time that is given.
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class View(ManifestStore):
    """An immutable snapshot. `pinned` are the objects whose status was given with them, unchanged since."""

    def __init__(self, tables: Mapping[str, Table], store: "Store") -> None:
        super().__init__(MappingProxyType(dict(tables)), store.origin, store.extra_kinds)
        self.pinned = frozenset(store.pinned)
        self._unread = store.unread
        #: The logical time of the snapshot, RFC 3339.
        self.now = store.now


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """What the server adds to an object's metadata when it writes it."""

    uid: str
    created: str
    generation: int


class Store(ManifestStore):
    """Holds the objects and versions them. Objects are never changed in place: a write puts a new one."""

    def __init__(self) -> None:
        self._live: dict[str, Table] = {}
        super().__init__(self._live, object())
        self.links = Links()
        self.pinned: set[Key] = set()
        #: Bumped by every write and removal: equal revisions, equal objects.
        self.revision = 0
        self._revisions: dict[str, int] = {}
        #: What was written or removed, in order, by this store and those that it was forked from.
        self._written: list[Key] = []
        self._shared: set[str] = set()
        self._now = EPOCH
        self._lives: Counter[Key] = Counter()
        self._exported: dict[str, dict[Key, Manifest]] = {_CLUSTER: {}, REPLICA: {}}
        self._anew = False
        #: Forks count on together: what is read of an object is remembered by its resourceVersion.
        self._versions = count(1)

    def fork(self) -> "Store":
        """Return a store of the same objects and history; what is written to either is not in the other."""
        other = Store()
        self._shared.update(self._live)
        other._live.update(self._live)
        other._shared.update(self._live)
        other.origin, other.extra_kinds, other._versions = self.origin, self.extra_kinds, self._versions
        other.links = self.links.fork()
        other.pinned, other.sought = set(self.pinned), set(self.sought)
        other.revision, other._revisions = self.revision, dict(self._revisions)
        other._written = [*self._written]
        other._now, other._lives = self._now, Counter(self._lives)
        other._exported = {kind: dict(found) for kind, found in self._exported.items()}
        other._unread, other._anew = self._unread, self._anew
        return other

    @property
    def now(self) -> str:
        """Return the logical time, RFC 3339."""
        return self._now.strftime("%Y-%m-%dT%H:%M:%SZ")

    @property
    def unread(self) -> Mapping[str, Unread]:
        """Return, by cluster, what is known of ModelReplicas that are not in an export.

        It is found in clusters and replicas as they were given, whatever has become of them since.
        """
        if self._anew:
            self._anew = False
            clusters, replicas = ([as_object(self, obj) for obj in each.values()] for each in self._exported.values())
            self._unread = find_unread(clusters, replicas)
            self.revision = next(self._versions)
            self._revisions[REPLICA] = self.revision
        return self._unread

    def record_export(self, obj: Manifest, *, has_status: bool) -> None:
        """Record a stored cluster with the status that it was given with, or a replica as it was given.

        A replica without a status is not recorded again: it is an edit of what is in the export. The replicas that are
        there before a cluster is given are in its export.
        """
        key = key_of(obj)
        if key.kind == _CLUSTER and has_status:
            there = {key_of(each): each for each in self.scan(REPLICA, {LABEL_CLUSTER: key.name})}
            self._exported[REPLICA] = there | self._exported[REPLICA]
        elif key.kind != REPLICA or (key in self._exported[REPLICA] and not has_status):
            return
        self._exported[key.kind][key] = obj
        self._anew = True

    def revision_of(self, kind: str) -> int:
        """Return the revision of the last change to a kind (`Kind.group`), 0 for none."""
        return self._revisions.get(kind, 0)

    @property
    def writes(self) -> int:
        """Return how many writes and removals there were."""
        return len(self._written)

    def written_since(self, writes: int) -> Sequence[Key]:
        """Return what was written or removed since there were so many writes."""
        return self._written[writes:]

    def view(self) -> View:
        """Return a snapshot of everything; a table is copied only when it is written to afterwards."""
        self._shared.update(self._live)
        return View(self._live, self)

    def put(self, obj: Manifest) -> bool:
        """Write an object, unless it equals what is there; tell whether it was written."""
        key = key_of(obj)
        old = self.peek(key)
        if old is not None and _content(old) == _content(obj):
            return False
        self.write(obj)
        return True

    def write(self, obj: Manifest) -> Manifest:
        """Write an object whatever is there, and return it as stored."""
        key = key_of(obj)
        old = self.peek(key)
        metadata = {k: v for k, v in obj["metadata"].items() if k != "managedFields" and v is not None}
        self._tick(metadata.get("creationTimestamp") if old is None else None)
        added = self._server_metadata(key, obj, metadata, old)
        self.revision = next(self._versions)
        metadata |= {
            "uid": added.uid,
            "creationTimestamp": added.created,
            "generation": added.generation,
            "resourceVersion": str(self.revision),
        }
        stored: Tree = {**obj, "metadata": metadata}
        if old is not None and added.generation != mapping(old, "metadata").get("generation"):
            self.pinned.discard(key)
        self._table(key.kind).put((key.namespace, key.name), stored)
        self._revisions[key.kind] = self.revision
        self._written.append(key)
        self.links.update(key, stored)
        return stored

    def remove(self, key: Key) -> None:
        """Forget an object."""
        if self.peek(key) is None:
            return
        self.revision = next(self._versions)
        self._tick(None)
        self._table(key.kind).remove((key.namespace, key.name))
        self._revisions[key.kind] = self.revision
        self._written.append(key)
        self.links.update(key, None)
        self._lives[key] += 1
        self.pinned.discard(key)
        if self._exported[_CLUSTER].pop(key, None):
            self._anew = True

    def _server_metadata(self, key: Key, obj: Manifest, metadata: Manifest, old: Manifest | None) -> ServerMetadata:
        if old is None:
            generation = metadata.get("generation")
            return ServerMetadata(
                uid=metadata.get("uid") or self._uid(key, obj["apiVersion"]),
                created=metadata.get("creationTimestamp") or self.now,
                generation=generation if isinstance(generation, int) else 1,
            )
        before = old["metadata"]
        changed = _intent(old) != _intent(obj)
        return ServerMetadata(before["uid"], before["creationTimestamp"], before["generation"] + changed)

    def _uid(self, key: Key, api_version: str) -> str:
        """Return a uid derived from the identity, as `crossplane render` does; an object created again gets another."""
        text = f"{api_version}, Kind={key.kind.partition('.')[0]}\0{key.namespace}\0{key.name}"
        if "/" not in api_version:
            text = f"/{text}"
        life = self._lives[key]
        return str(uuid.uuid5(uuid.UUID(int=0), f"{text}\0{life}" if life else text))

    def _tick(self, given: object) -> None:
        self._now += timedelta(seconds=1)
        if given is None:
            return
        try:
            then = datetime.fromisoformat(str(given))
            self._now = max(self._now, (then if then.tzinfo else then.replace(tzinfo=UTC)).astimezone(UTC))
        except (ValueError, OverflowError):
            return

    def _table(self, kind: str) -> Table:
        if kind in self._shared:
            self._live[kind] = self._live[kind].copy()
            self._shared.discard(kind)
        return self._live.setdefault(kind, Table())


def _content(obj: Manifest) -> tuple[Manifest, Manifest]:
    """Return the content of an object for comparison: all but its resourceVersion."""
    metadata = {k: v for k, v in obj["metadata"].items() if k not in {"resourceVersion", "generation", "managedFields"}}
    return metadata, {k: v for k, v in obj.items() if k != "metadata"}


def _intent(obj: Manifest) -> Manifest:
    """Return the part of an object whose changes raise its generation: all but metadata and status."""
    return {k: v for k, v in obj.items() if k not in {"metadata", "status"}}
