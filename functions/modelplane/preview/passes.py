"""The versions that each composite's last pass read: a composite is due again only when one of them has changed."""

from dataclasses import dataclass, replace

from modelplane.preview.composed import CompositionError, composed_keys, observe
from modelplane.preview.lookup import FetchError, select
from modelplane.preview.pipeline_run import Fetched
from modelplane.preview.reconciler import Pass
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, key_of, qualify
from modelplane.reading.tree import Manifest
from modelplane.step import Object, Requirement

#: Less than every revision of a store: of a pass that read a view, which may be outdated.
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class OwnVersions:
    """The versions of a composite and its composed objects."""

    composite: str
    composed: frozenset[tuple[Key, str]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to one requirement: its objects' versions, and the revision up to which they are known unchanged."""

    requirement: Requirement
    kind: str
    versions: tuple[tuple[str, str], ...]
    revision: int


@dataclass(frozen=True, slots=True)
class _Last:
    own: OwnVersions
    reads: tuple[_Answer, ...]
    fetched: Fetched


class LastPasses:
    """The versions that the last pass of every composite read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: dict[Key, _Last] = {}
        self._given: dict[Key, OwnVersions] = {}
        #: The present versions of each composite, as long as nothing is written to it or to what it refers to.
        self._own: dict[Key, OwnVersions | None] = {}
        #: The composites that refer to an object, or once did: forks share it.
        self._watching: dict[Key, set[Key]] = {}
        self._seen = 0

    def fork(self, store: Store) -> "LastPasses":
        """Return the last passes of a fork of the store."""
        other = LastPasses(store)
        other._given, other._last, other._own = dict(self._given), dict(self._last), dict(self._own)
        other._watching, other._seen = self._watching, self._seen
        return other

    def own(self, key: Key) -> OwnVersions | None:
        """Return the present versions of a composite and its composed objects, None if it does not exist."""
        self._forget_written()
        if key not in self._own:
            self._own[key] = self._read_own(key)
        return self._own[key]

    def _forget_written(self) -> None:
        for written in self._store.written_since(self._seen):
            self._own.pop(written, None)
            for composite in self._watching.get(written, ()):
                self._own.pop(composite, None)
        self._seen = self._store.writes

    def _read_own(self, key: Key) -> OwnVersions | None:
        composite = self._store.peek(key)
        if composite is None:
            return None
        for ref in composed_keys(composite):
            self._watching.setdefault(ref, set()).add(key)
        try:
            composed = observe(self._store, composite).values()
        except CompositionError:
            composed = {}.values()
        return OwnVersions(_version(composite), frozenset((key_of(obj), _version(obj)) for obj in composed))

    def record(self, key: Key, own: OwnVersions | None, done: Pass | None, known: int) -> None:
        """Record a pass that began with `own`; a failed one is due again at once.

        `known`: the revision of the store that the pass read, less than all where it read another view.
        """
        self._store.pinned.discard(key)
        self._last.pop(key, None)
        if own is None or done is None or done.error is not None:
            return
        answers = done.run.fetched.resources.values()
        reads = tuple(
            _Answer(asked, qualify(asked.api_version, asked.kind), _versions(found), known) for asked, found in answers
        )
        self._last[key] = _Last(own, reads, done.run.fetched)

    def due(self, key: Key) -> bool:
        """Tell whether another pass of a composite may have another outcome than its last."""
        own = self.own(key)
        if key in self._store.pinned and own is not None:
            # Its status was given: it is the outcome of the last pass until the composite or its resources change.
            return self._given.setdefault(key, own).composed != own.composed
        last = self._last.get(key)
        if last is None or last.own != own:
            return True
        schemas = last.fetched.schemas.values()
        return not self._fresh(key, last) or any(
            (self._store.schema(asked.api_version, asked.kind) is None) != (known is None) for asked, known in schemas
        )

    def _fresh(self, key: Key, last: _Last) -> bool:
        """Tell whether the answers of a pass are still the same, and note up to which revision they are."""
        changed = [read for read in last.reads if self._store.revision_of(read.kind) > read.revision]
        if not all(map(self._is_same, changed)):
            return False
        if changed:
            reads = tuple(replace(each, revision=self._store.revision) for each in last.reads)
            self._last[key] = replace(last, reads=reads)
        return True

    def _is_same(self, read: _Answer) -> bool:
        try:
            return tuple(_version_of(obj) for obj in select(self._store, read.requirement)) == read.versions
        except FetchError:
            return False


def _version(obj: Manifest) -> str:
    return str(obj["metadata"]["resourceVersion"])


def _version_of(obj: Manifest) -> tuple[str, str]:
    return str(obj["metadata"]["uid"]), _version(obj)


def _versions(found: tuple[Object, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(_version_of(obj.body) for obj in found)
