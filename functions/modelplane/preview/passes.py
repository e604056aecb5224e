"""The versions that each composite's last pass read: a composite is due again only when one of them has changed."""

from dataclasses import dataclass, field, replace

from modelplane.preview.composed import CompositionError, observe
from modelplane.preview.lookup import FetchError, select
from modelplane.preview.pipeline_run import Fetched
from modelplane.preview.reconciler import Pass
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, key_of, qualify
from modelplane.reading.tree import Manifest
from modelplane.step import Object, Requirement

#: Less than every revision of a store.
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class OwnVersions:
    """The versions of a composite and its composed objects at a revision of the store."""

    composite: str
    composed: frozenset[tuple[Key, str]]
    revision: int = field(compare=False)


@dataclass(slots=True)
class _Answer:
    """The answer to one requirement: its objects' versions, and the revision up to which they are known unchanged."""

    requirement: Requirement
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

    def fork(self, store: Store) -> "LastPasses":
        """Return the last passes of a fork of the store."""
        other = LastPasses(store)
        other._given = dict(self._given)
        other._last = {
            key: replace(last, reads=tuple(replace(each) for each in last.reads)) for key, last in self._last.items()
        }
        return other

    def own(self, key: Key) -> OwnVersions | None:
        """Return the present versions of a composite and its composed objects, None if it does not exist."""
        composite = self._store.peek(key)
        if composite is None:
            return None
        try:
            composed = observe(self._store, composite).values()
        except CompositionError:
            composed = {}.values()
        versions = frozenset((key_of(obj), _version(obj)) for obj in composed)
        return OwnVersions(_version(composite), versions, self._store.revision)

    def record(self, key: Key, own: OwnVersions | None, done: Pass | None, *, live: bool) -> None:
        """Record a pass that began with `own`; a failed one is due again at once.

        `live`: the pass read the store itself, not a view that may be outdated.
        """
        self._store.pinned.discard(key)
        self._last.pop(key, None)
        if own is None or done is None or done.error is not None:
            return
        answers = done.run.fetched.resources.values()
        known = own.revision if live else _UNKNOWN
        reads = tuple(_Answer(asked, _versions(found), known) for asked, found in answers)
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
        return not all(map(self._fresh, last.reads)) or any(
            (self._store.schema(asked.api_version, asked.kind) is None) != (known is None) for asked, known in schemas
        )

    def _fresh(self, read: _Answer) -> bool:
        asked = read.requirement
        if self._store.revision_of(qualify(asked.api_version, asked.kind)) <= read.revision:
            return True
        try:
            now = tuple(_version_of(obj) for obj in select(self._store, asked))
        except FetchError:
            return False
        if now == read.versions:
            read.revision = self._store.revision
        return now == read.versions


def _version(obj: Manifest) -> str:
    return str(obj["metadata"]["resourceVersion"])


def _version_of(obj: Manifest) -> tuple[str, str]:
    return str(obj["metadata"]["uid"]), _version(obj)


def _versions(found: tuple[Object, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(_version_of(obj.body) for obj in found)
