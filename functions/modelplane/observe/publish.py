"""Publishes what is read, in a ConfigMap, whenever it changes."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from modelplane.live import LiveError
from modelplane.observe.api_server import ApiServer

#: Seconds after which what has not changed is written again: somebody may have changed the ConfigMap.
_AGAIN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a ConfigMap that exists."""

    namespace: str
    name: str
    key: str

    def write(self, server: ApiServer, value: Mapping[str, Any] | None) -> None:
        """Write a value as JSON, None for no value. Raises LiveError."""
        text = None if value is None else json.dumps(value, sort_keys=True, separators=(",", ":"))
        path = f"/api/v1/namespaces/{self.namespace}/configmaps/{self.name}"
        server.merge(path, {"data": {self.key: text}})


def publish(
    server: ApiServer,
    entry: Entry,
    read: Callable[[], Mapping[str, Any] | None],
    *,
    every: float,
    ended: threading.Event,
) -> None:
    """Read every so many seconds until `ended`, and publish what has changed; at the end nothing is known any more."""
    log = structlog.get_logger()
    last: tuple[Mapping[str, Any] | None, float] | None = None
    while True:
        try:
            found, now = read(), time.monotonic()
            if last is None or found != last[0] or now - last[1] >= _AGAIN:
                entry.write(server, found)
                last = found, now
        except LiveError as error:
            log.warning("not published", error=str(error))
        if ended.wait(every):
            break
    try:
        entry.write(server, None)
    except LiveError as error:
        log.warning("not withdrawn", error=str(error))
