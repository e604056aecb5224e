"""What `modelplane observe` answers to a scrape: the fleet's series, how replicas start, and how current that is."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics, start_http_server

from modelplane.live import Resource, Watchable
from modelplane.model.names import API_VERSION
from modelplane.observe.exposition import Collected
from modelplane.observe.snapshot import Snapshot
from modelplane.reading.deployments import condition
from modelplane.reading.export import Export
from modelplane.reading.fleet import read_fleet
from modelplane.reading.kinds import OWN
from modelplane.reading.manifests import LocatedObject, Source
from modelplane.reading.series import Samples, Series, read_series, seconds
from modelplane.reading.tree import child

_BUCKETS: Final = (30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0)
_SOURCE: Final = Source("the control cluster", lambda: None)
_REPLICA: Final = "ModelReplica"

Manifest = Mapping[str, Any]


class FleetMetrics:
    """The metrics of a fleet on a control cluster."""

    def __init__(self, server: Watchable) -> None:
        disable_created_metrics()
        resources = tuple(Resource(API_VERSION, kind, own.plural, own.namespaced) for kind, own in OWN.items())
        self._snapshot = Snapshot(server, resources, self._see)
        self._registry = CollectorRegistry()
        self._registry.register(Collected(self._series))
        self._startup = Histogram(
            "modelplane_replica_startup_seconds",
            "Time from the creation of a replica to its first Ready, of those that were seen to become Ready.",
            ("cluster",),
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def serve(self, host: str, port: int) -> int:
        """Watch the fleet and answer scrapes until the process ends, and return the port. Raises OSError."""
        self._snapshot.start()
        server, _ = start_http_server(port, host, self._registry)
        return int(server.server_port)

    def _series(self) -> Iterator[Series]:
        reader = Export(LocatedObject(obj, _SOURCE) for obj in self._snapshot.read())
        fleet = read_fleet(reader, datetime.now(UTC).isoformat())
        yield from read_series(reader, fleet)
        health = self._snapshot.health
        heard: Samples = {(kind,): each.heard for kind, each in health.items()}
        text = "When the watch of a kind was last heard of, in seconds since 1970; 0 for never."
        yield Series("observe_last_event_timestamp_seconds", text, ("kind",), heard)
        restarts: Samples = {(kind,): float(each.restarts) for kind, each in health.items()}
        yield Series("observe_watch_restarts_total", "Watches of a kind that broke.", ("kind",), restarts, counter=True)

    def _see(self, before: Manifest | None, now: Manifest | None) -> None:
        """Count the time that a replica took to its first Ready, when that is seen to happen."""
        if before is None or now is None or now.get("kind") != _REPLICA or child(before, "status", "served") is True:
            return
        if _is_ready(now) and not _is_ready(before):
            took = time.time() - seconds(str(now["metadata"].get("creationTimestamp") or ""))
            self._startup.labels(str(child(now, "spec", "clusterName") or "")).observe(max(0.0, took))


def _is_ready(obj: Manifest) -> bool:
    return condition(obj, "Ready").get("status") == "True"
