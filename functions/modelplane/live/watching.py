"""Follows what happens to the objects of a listing, until the server or the connection ends it."""

import http.client
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from modelplane.live.errors import LiveError, ServerError
from modelplane.live.listing import Listing
from modelplane.live.server import Watchable

_ERROR: Final = "ERROR"
_BOOKMARK: Final = "BOOKMARK"
_DELETED: Final = "DELETED"

#: An object, and whether it was deleted.
Change = tuple[Mapping[str, Any], bool]


def follow(server: Watchable, listing: Listing, tell: Callable[[Change | LiveError], None]) -> None:
    """Tell every change of a listing's objects, and at last the error that ends it.

    The server ends a watch now and then, and it is begun again where it ended.
    """
    version = listing.version
    try:
        while True:
            for reached, change in _watch(server, listing, version):
                version = reached
                if change is not None:
                    tell(change)
    except LiveError as error:
        tell(error)


def _watch(server: Watchable, listing: Listing, version: str) -> Iterator[tuple[str, Change | None]]:
    """Yield the version after each event, and its change; bookmarks have none."""
    asked = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": version}
    for event in server.watch(f"{listing.resource.path(listing.namespace)}?{urlencode(asked)}"):
        obj = event.get("object") or {}
        if event.get("type") == _ERROR:
            raise ServerError(int(obj.get("code") or http.client.GONE), str(obj.get("message") or "the watch ended"))
        change = None if event.get("type") == _BOOKMARK else (obj, event.get("type") == _DELETED)
        yield obj["metadata"]["resourceVersion"], change
