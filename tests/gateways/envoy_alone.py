"""The filters of the gateways in one Envoy of their own, in routes written here: no Envoy Gateway, and no fleet.

The public gateway sends requests on to the router or to a cluster's gateway by HTTP/2, each with one endpoint and a
fallback that costs money, and both lead to one engine, which it reaches itself too, where nothing is ejected.
"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.fleet_filter import PREFIX, fleet_filter
from modelplane.kube.gateway.model_list import model_selection
from modelplane.kube.gateway.model_name import served_model_filter
from modelplane.kube.gateway.provider import model_filter, refused_filter
from modelplane.kube.gateway.proxy import envoy_proxy
from modelplane.kube.gateway.traffic import (
    CALLERS_BUFFER,
    Traffic,
    client_traffic_policy,
    gateway_traffic_policy,
    service_traffic_policy,
)
from modelplane_dev.components.builds import envoy
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import START

#: What the fallback answers.
PAID: Final = "paid"
#: The name of the model that a request to the provider has behind the router.
MODEL: Final = "vendor/model"
#: Endpoints of which Envoy compares the shares of good answers, and requests that each must have in an interval.
COMPARED, REQUESTS = 5, 100
_API: Final = "type.googleapis.com/envoy"
_FILTERS: Final = f"{_API}.extensions.filters"
_HTTP: Final = f"{_API}.extensions.upstreams.http.v3.HttpProtocolOptions"
_TRAFFIC: Final = gateway_traffic_policy("t", "n", "g")["spec"]
_CLIENTS: Final = client_traffic_policy("c", "n", "g")["spec"]
_PASSIVE: Final = _TRAFFIC["healthCheck"]["passive"]
_RETRY: Final = {
    "num_retries": _TRAFFIC["retry"]["numRetries"],
    "retry_on": ",".join(_TRAFFIC["retry"]["retryOn"]["triggers"]),
    "retriable_status_codes": _TRAFFIC["retry"]["retryOn"]["httpStatusCodes"],
}
#: Names of this Envoy's public gateway and of another one.
OWN, OTHER = "modelplane-0123456789abcdef", "modelplane-fedcba9876543210"
#: The largest window of a stream by HTTP/2: that of a gateway is as large as what it holds of a request.
_WINDOW: Final = 16 * 2**20
_PATIENCE: Final = 60.0


class _Engine(BaseHTTPRequestHandler):
    """Answers with the status in X-Status, headers in X-Headers and the body in X-Body.

    Without that body it says the length of the request and its model.
    It does so after X-Seconds, and gives each answer an id of its own.
    """

    protocol_version = "HTTP/1.1"
    reached: ClassVar[list[dict[str, str]]] = []

    def _answer(self) -> None:
        self.reached.append({name.lower(): value for name, value in self.headers.items()})
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
        time.sleep(float(self.headers.get("X-Seconds", 0)))
        named = json.loads(text).get("model") if self.headers.get_content_type() == "application/json" else None
        body = self.headers.get("X-Body", json.dumps({"bytes": len(text), "model": named})).encode()
        self.send_response(int(self.headers.get("X-Status", 200)))
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("X-Request-Id", "own")
            for name, value in json.loads(self.headers.get("X-Headers", "{}")).items():
                self.send_header(name, value)
            self.send_header("Content-Type", self.headers.get("X-Type", "application/json"))
        self.end_headers()
        with suppress(BrokenPipeError):  # whoever has not waited
            self.wfile.write(b"" if self.command == "HEAD" else body)

    do_GET = do_HEAD = do_POST = _answer  # noqa: N815 - as http.server calls it

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class EnvoyAlone:
    """The Envoy. By /provider its public gateway leads over the router, by /site over a cluster's, by /engine there.

    At the port `fleet` is the fleet URL, whose requests reach the engine as they are sent to the gateway again.
    """

    port: int
    administration: int
    fleet: int

    def connect(self, port: int | None = None) -> socket.socket:
        """Return a connection to the public gateway, or to another port."""
        return socket.create_connection(("127.0.0.1", port or self.port), timeout=_PATIENCE)

    @property
    def reached(self) -> list[dict[str, str]]:
        """Return the headers of all requests that have reached the engine."""
        return _Engine.reached

    def active_ejections(self) -> int:
        """Return how many endpoints are ejected now."""
        url = f"http://127.0.0.1:{self.administration}/stats?filter=outlier_detection.ejections_active"
        with urllib.request.urlopen(url) as found:
            return sum(int(line.rpartition(b": ")[2]) for line in found)


def _lua(policy: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": f"lua-{number}",
            "typed_config": {
                "@type": f"{_FILTERS}.http.lua.v3.Lua",
                "default_source_code": {"inline_string": script["inline"]},
            },
        }
        for number, script in enumerate(policy["spec"]["lua"])
    ]


def _at(port: int, address: str = "127.0.0.1") -> dict[str, Any]:
    return {"address": {"socket_address": {"address": address, "port_value": port}}}


def _listener(
    port: int, filters: list[dict[str, Any]], *routes: dict[str, Any], buffer: int = 50 * 2**20
) -> dict[str, Any]:
    router = {
        "name": "router",
        "typed_config": {"@type": f"{_FILTERS}.http.router.v3.Router", "suppress_envoy_headers": True},
    }
    manager = {
        "@type": f"{_FILTERS}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": str(port),
        "use_remote_address": True,
        "preserve_external_request_id": _CLIENTS["headers"]["requestID"] == "PreserveOrGenerate",
        "http_filters": [*filters, router],
        "http2_protocol_options": {
            "initial_stream_window_size": min(buffer, _WINDOW),
            "initial_connection_window_size": _WINDOW,
        },
        "route_config": {
            "response_headers_to_add": [
                {"header": {"key": each["name"], "value": each["value"]}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
                for each in _CLIENTS["headers"]["lateResponseHeaders"]["set"]
            ],
            "response_headers_to_remove": _CLIENTS["headers"]["lateResponseHeaders"]["remove"],
            "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": list(routes)}],
        },
    }
    chain = {"filters": [{"name": "http", "typed_config": manager}]}
    return {"name": str(port), **_at(port), "filter_chains": [chain], "per_connection_buffer_limit_bytes": buffer}


def _route(prefix: str, cluster: str, **more: Any) -> dict[str, Any]:
    return {"match": {"prefix": prefix}, "route": {"cluster": cluster, "timeout": "0s", **more}}


def _limit() -> dict[str, Any]:
    """Return how a route limits a whole request, as that of a service whose requests may last 0.3 s."""
    policy = service_traffic_policy("t", "n", "r", Traffic(request="0.3s")) or {}
    return {"max_stream_duration": {"max_stream_duration": policy["spec"]["timeout"]["http"]["maxStreamDuration"]}}


def _runtime() -> dict[str, Any]:
    """Return the values that Envoy has from its bootstrap."""
    patches = envoy_proxy("p", "n", replicas=1)["spec"]["bootstrap"]["jsonPatches"]
    found = {each["path"]: each["value"] for each in patches if "/static_layer/" in each["path"]}
    values = {path.rpartition("/")[2]: value for path, value in found.items()}
    return {"layers": [{"name": "all", "static_layer": values}]}


def _cluster(name: str, *ports: int, http2: bool = False) -> dict[str, Any]:
    """Return a cluster whose first port is its endpoint, and the second its fallback."""
    tiers = [{"priority": tier, "lb_endpoints": [{"endpoint": _at(port)}]} for tier, port in enumerate(ports)]
    explicit: dict[str, Any] = {
        "explicit_http_config": {"http2_protocol_options" if http2 else "http_protocol_options": {}}
    }
    return {
        "name": name,
        "type": "STATIC",
        "load_assignment": {"cluster_name": name, "endpoints": tiers},
        "typed_extension_protocol_options": {_HTTP.rpartition("/")[2]: {"@type": _HTTP, **explicit}},
    }


def _ejecting(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cluster that ejects endpoints."""
    return {
        **cluster,
        "outlier_detection": {
            "interval": _PASSIVE["interval"],
            "consecutive_5xx": _PASSIVE["consecutive5XxErrors"],
            "consecutive_gateway_failure": _PASSIVE["consecutiveGatewayErrors"],
            "enforcing_consecutive_gateway_failure": 100,
            "base_ejection_time": _PASSIVE["baseEjectionTime"],
            "max_ejection_percent": _PASSIVE["maxEjectionPercent"],
        },
        "common_lb_config": {"healthy_panic_threshold": {"value": _TRAFFIC["healthCheck"]["panicThreshold"]}},
    }


def _tiered(name: str, endpoint: int, fallback: int) -> dict[str, Any]:
    return _ejecting(_cluster(name, endpoint, fallback, http2=True))


def _affine(port: int) -> dict[str, Any]:
    """Return a cluster with as many endpoints as Envoy compares, where a header chooses one."""
    endpoints = [{"endpoint": _at(port, f"127.0.0.{number}")} for number in range(1, COMPARED + 1)]
    made = _ejecting(_cluster("affine")) | {"lb_policy": "RING_HASH"}
    return made | {"load_assignment": {"cluster_name": "affine", "endpoints": [{"lb_endpoints": endpoints}]}}


def _comparable(port: int) -> dict[str, Any]:
    """Return the listener of its endpoints, which answer with the status in X-Status."""
    failed = {"prefix": "/", "headers": [{"name": "x-status", "string_match": {"exact": "500"}}]}
    routes: list[dict[str, Any]] = [
        {"match": match, "direct_response": {"status": status}}
        for match, status in ((failed, 500), ({"prefix": "/"}, 200))
    ]
    for each in routes:
        where = {"header": {"key": "x-endpoint", "value": "%DOWNSTREAM_LOCAL_ADDRESS%"}}
        each["response_headers_to_add"] = [where]
    return _listener(port, [], *routes) | _at(port, "0.0.0.0")  # noqa: S104 - of all loopback addresses


def _configuration(alone: EnvoyAlone, engine: int) -> dict[str, Any]:
    router, site, paid, compared, others = (free_port() for _ in range(5))
    unknown = {"direct_response": {"status": 404}}
    team, system = (
        f"httproute/{name}/rule/0/match/0/*" for name in ("unknown-paths/chat", "modelplane-system/unknown-paths")
    )
    policies = (
        access_log_filter("a", "n", "g", tokens=False, passed=OWN),
        fleet_filter("f", "n", ["r"], OWN),
        model_selection("l", "n", "r", OWN),
        refused_filter("r", "n", "g"),
    )
    engines = _route("/", "engine")
    listeners = [
        _listener(
            alone.port,
            _lua(access_log_filter("a", "n", "g", tokens=True, passed=OWN)),
            _route("/provider", "router", retry_policy=_RETRY),
            _route("/site", "site", retry_policy=_RETRY),
            _route("/engine", "engine"),
            _route("/limited", "site", retry_policy=_RETRY, **_limit()),
            _route("/affine", "affine", hash_policy=[{"header": {"header_name": "x-session"}}]),
            {"name": team, **_route("/unknown-paths/chat/", "engine")},
            {"name": system, "match": {"prefix": "/"}, **unknown},
            buffer=CALLERS_BUFFER,
        ),
        _listener(
            alone.fleet,
            _lua(fleet_filter("f", "n", ["r"], OWN)),
            _route(PREFIX, "engine"),
            {"match": {"prefix": "/v1"}, "direct_response": {"status": 503}},
            buffer=CALLERS_BUFFER,
        ),
        _listener(router, _lua(model_filter("m", "n", "r", MODEL)), engines),
        _listener(site, _lua(served_model_filter("s", "n", "g")), engines, buffer=CALLERS_BUFFER),
        _listener(
            paid, [], {"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": PAID}}}
        ),
        _comparable(compared),
        # Envoy refuses what is wrong with them.
        _listener(others, [each for policy in policies for each in _lua(policy)], engines),
    ]
    clusters = [
        _tiered("router", router, paid),
        _tiered("site", site, paid),
        _cluster("engine", engine),
        _affine(compared),
    ]
    resources = {"listeners": listeners, "clusters": clusters}
    return {"admin": _at(alone.administration), "layered_runtime": _runtime(), "static_resources": resources}


@contextmanager
def envoy_alone() -> Iterator[EnvoyAlone]:
    """Run the Envoy and the engine."""
    found = EnvoyAlone(free_port(), free_port(), free_port())
    with ThreadingHTTPServer(("127.0.0.1", 0), _Engine) as engine, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        file = Path(folder, "envoy.json")
        file.write_text(json.dumps(_configuration(found, engine.server_port)))
        command = (
            envoy(),
            "--config-path",
            file,
            "--use-dynamic-base-id",
            "--concurrency",
            "1",
            "--log-level",
            "critical",
        )
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=sys.stderr) as process:
            try:
                _wait_for(found, process)
                yield found
            finally:
                process.terminate()
                engine.shutdown()


def _wait_for(found: EnvoyAlone, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START
    while True:
        assert process.poll() is None, "Envoy has refused the configuration"
        try:
            found.connect().close()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return
