"""A fake adapter of external metrics in place of prometheus-adapter or KEDA: a test sets its values."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from modelplane_dev.plane.api import Kind, condition
from modelplane_dev.plane.cluster import Cluster, namespace
from modelplane_dev.plane.json_answers import answer
from modelplane_dev.plane.waiting import eventually

_GROUP: Final = "external.metrics.k8s.io"
_VERSION: Final = f"{_GROUP}/v1beta1"
_SERVICE: Final = Kind("v1", "Service")
_API_SERVICE: Final = Kind("apiregistration.k8s.io/v1", "APIService")
_NAMES: Final = ("external-metrics", "fake-metrics")
#: Seconds until an API server passes requests on.
_PATIENCE: Final = 600.0


@dataclass(slots=True)
class Metrics:
    """The values of metrics by name, and the label selectors of the requests for them."""

    values: dict[str, int]
    asked: set[str] = field(default_factory=set)


class _Adapter(BaseHTTPRequestHandler):
    """Answers the requests that an API server forwards."""

    def __init__(self, metrics: Metrics, *connection: Any) -> None:
        self._metrics = metrics
        super().__init__(*connection)

    def do_GET(self) -> None:
        """Answer with the list of metrics, or the value of one."""
        parts = urlsplit(self.path)
        root, _, name = parts.path.rpartition("/")
        if parts.path == f"/apis/{_VERSION}":
            named = {"singularName": "", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"]}
            resources = [{"name": each, **named} for each in self._metrics.values]
            listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": _VERSION, "resources": resources}
            answer(self, 200, listed)
        elif root.startswith(f"/apis/{_VERSION}/namespaces/") and name in self._metrics.values:
            self._metrics.asked.update(parse_qs(parts.query).get("labelSelector", ()))
            value = {"metricName": name, "metricLabels": {}, "value": str(self._metrics.values[name])}
            item = {**value, "timestamp": "2026-01-01T00:00:00Z"}
            answer(
                self, 200, {"kind": "ExternalMetricValueList", "apiVersion": _VERSION, "metadata": {}, "items": [item]}
            )
        else:
            answer(self, 404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404})

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def fake_metrics(cluster: Cluster, **values: int) -> Iterator[Metrics]:
    """Serve the external metrics of a cluster, and let its API server forward requests to this process.

    The APIService is deleted before the server stops: while it leads nowhere, no Namespace can be deleted.
    """
    metrics = Metrics(values)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Adapter, metrics))
    pair, context = cluster.run.certificates.server, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{pair}/tls.crt", f"{pair}/tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _register(cluster, server.server_port)
    try:
        eventually(lambda: _assert_available(cluster), within=_PATIENCE)
        yield metrics
    finally:
        cluster.api.delete(_API_SERVICE, f"v1beta1.{_GROUP}")
        server.shutdown()
        server.server_close()


def _register(cluster: Cluster, port: int) -> None:
    """Write an APIService that leads to a port of this host."""
    at, name = _NAMES
    cluster.api.apply(namespace(at))
    metadata = {"name": name, "namespace": at}
    outside = {"type": "ExternalName", "externalName": "localhost"}
    cluster.api.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": outside})
    spec = {
        "group": _GROUP,
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {**metadata, "port": port},
    }
    metadata = {"name": f"v1beta1.{_GROUP}"}
    manifest = {"apiVersion": _API_SERVICE.api_version, "kind": _API_SERVICE.kind, "metadata": metadata, "spec": spec}
    cluster.api.apply(manifest)


def _assert_available(cluster: Cluster) -> None:
    found = cluster.api.get(_API_SERVICE, f"v1beta1.{_GROUP}") or {}
    assert condition(found, "Available").get("status") == "True", found.get("status")
