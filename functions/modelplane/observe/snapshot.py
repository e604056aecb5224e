"""The objects of the control cluster's own kinds, kept current by watches."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import structlog

from modelplane.live import Listing, LiveError, Resource, Rights, Watchable, list_objects
from modelplane.live.watching import Change, follow
from modelplane.reading.kinds import Key, key_of

#: Seconds after which a kind that could not be listed or watched is listed again.
_AGAIN: Final = 5.0

Manifest = Mapping[str, Any]
#: Is called with an object as it was, None where it is new, and as it is, None where it is gone.
Seen = Callable[[Manifest | None, Manifest | None], None]


@dataclass(frozen=True, slots=True)
class Health:
    """Of a kind: when it was last heard of, in seconds since 1970 (0 for never), and how often its watch broke."""

    heard: float = 0.0
    restarts: int = 0


class Snapshot:
    """The objects of some kinds. A kind that breaks keeps what it had: `health` tells how old that is."""

    def __init__(self, server: Watchable, resources: tuple[Resource, ...], seen: Seen) -> None:
        self._server, self._resources, self._seen = server, resources, seen
        self._lock = threading.Lock()
        self._objects: dict[str, dict[Key, Manifest]] = {each.kind: {} for each in resources}
        self._health = {each.kind: Health() for each in resources}

    def start(self) -> None:
        """Watch each kind on a thread of its own, until the process ends."""
        for each in self._resources:
            threading.Thread(target=self._keep, args=(each,), name=each.plural, daemon=True).start()

    def read(self) -> list[Manifest]:
        """Return the objects as they are known now."""
        with self._lock:
            return [obj for each in self._objects.values() for obj in each.values()]

    @property
    def health(self) -> Mapping[str, Health]:
        """Return the health of each kind."""
        with self._lock:
            return MappingProxyType(dict(self._health))

    def _keep(self, resource: Resource) -> None:
        while True:
            self._follow(resource)
            time.sleep(_AGAIN)

    def _follow(self, resource: Resource) -> None:
        """List a kind and follow its changes until its watch breaks."""

        def tell(change: Change | LiveError) -> None:
            if isinstance(change, LiveError):
                self._broke(resource, change)
            else:
                self._change(resource, *change)

        try:
            listing = list_objects(self._server, resource)
            if listing.rights is not Rights.THERE:
                self._broke(resource, LiveError(listing.why))
                return
            self._replace(listing)
        except LiveError as error:
            self._broke(resource, error)
            return
        follow(_Heard(self._server, partial(self._heard, resource.kind)), listing, tell)

    def _broke(self, resource: Resource, error: LiveError) -> None:
        structlog.get_logger().warning("a watch broke", kind=resource.kind, error=str(error))
        with self._lock:
            before = self._health[resource.kind]
            self._health[resource.kind] = Health(before.heard, before.restarts + 1)

    def _replace(self, listing: Listing) -> None:
        """Take a listing for all that there is of a kind."""
        kind = listing.resource.kind
        found = {key_of(obj): obj for obj in listing.objects}
        gone = [key for key in self._objects[kind] if key not in found]
        for key, obj in found.items():
            self._put(kind, key, obj)
        for key in gone:
            self._put(kind, key, None)
        self._heard(kind)

    def _change(self, resource: Resource, obj: Manifest, deleted: bool) -> None:  # noqa: FBT001 - a Change, unpacked
        self._put(resource.kind, key_of(obj), None if deleted else obj)

    def _put(self, kind: str, key: Key, obj: Manifest | None) -> None:
        with self._lock:
            before = self._objects[kind].get(key)
            if obj is None:
                self._objects[kind].pop(key, None)
            else:
                self._objects[kind][key] = obj
        self._seen(before, obj)

    def _heard(self, kind: str) -> None:
        with self._lock:
            self._health[kind] = Health(time.time(), self._health[kind].restarts)


@dataclass(frozen=True, slots=True)
class _Heard:
    """A server that reports each event of a watch, bookmarks too: where nothing happens they say that it is alive."""

    server: Watchable
    heard: Callable[[], None]

    def get(self, path: str) -> Any:
        return self.server.get(path)

    def watch(self, path: str) -> Iterator[Any]:
        for event in self.server.watch(path):
            self.heard()
            yield event
