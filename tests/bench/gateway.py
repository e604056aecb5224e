"""What the gateway adds to a request, at a service's URL and at the fleet URL, beside a direct connection.

A real Envoy has the filters that an InferenceGateway composes, in routes written here: Envoy Gateway is not asked. The
engine is a listener of the same Envoy, which costs next to nothing.
"""

import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure, compared
from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.fleet import fleet_surroundings
from modelplane.kube.gateway.fleet_filter import PREFIX
from modelplane_dev.components.builds import envoy
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import START

#: Requests of all connections at a time.
AT_ONCE, CONNECTIONS = 1200, 8
#: A request that passes Envoy twice takes at most so many times as long as one that passes it once.
LIMIT: Final = 4.0
_SMALLEST: Final = 264
#: Bytes of a request, and how many there are of each kind, one after the other.
SIZES: Final = {"264 B": (_SMALLEST, 300), "20 KB": (20_000, 300), "1 MB": (1_000_000, 30)}
_API: Final = "type.googleapis.com/envoy"
_EXTENSIONS: Final = f"{_API}.extensions.filters"
_BUFFER: Final = 50 * 1024 * 1024


def _lua(name: str, policy: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the filters of a policy's scripts, in their order; each route enables those that it has."""
    kind = f"{_EXTENSIONS}.http.lua.v3.Lua"
    sources = [
        {"@type": kind, "default_source_code": {"inline_string": script["inline"]}} for script in policy["spec"]["lua"]
    ]
    return [{"name": f"{name}-{at}", "disabled": True, "typed_config": source} for at, source in enumerate(sources)]


def _listener(port: int, filters: list[dict[str, Any]], routes: list[dict[str, Any]]) -> dict[str, Any]:
    router = {"name": "router", "typed_config": {"@type": f"{_EXTENSIONS}.http.router.v3.Router"}}
    manager = {
        "@type": f"{_EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": str(port),
        "http_filters": [*filters, router],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
    }
    chain = {"filters": [{"name": "http", "typed_config": manager}]}
    return {**_at(port), "filter_chains": [chain], "per_connection_buffer_limit_bytes": _BUFFER}


def _at(port: int) -> dict[str, Any]:
    return {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}


def _cluster(name: str, port: int) -> dict[str, Any]:
    endpoints = [{"lb_endpoints": [{"endpoint": _at(port)}]}]
    return {"name": name, "type": "STATIC", "load_assignment": {"cluster_name": name, "endpoints": endpoints}}


def _route(prefix: str, filters: Sequence[Mapping[str, Any]], **action: Any) -> dict[str, Any]:
    enabled = {each["name"]: {"@type": f"{_API}.config.route.v3.FilterConfig", "config": {}} for each in filters}
    return {"match": {"path_separated_prefix": prefix}, "typed_per_filter_config": enabled, **action}


def _answer(status: int) -> dict[str, Any]:
    return {"status": status, "body": {"inline_string": '{"usage": {"prompt_tokens": 9, "completion_tokens": 9}}'}}


def _configuration(gateway: int, engine: int) -> dict[str, Any]:
    parts = fleet_surroundings("gateway.example.org", [], "g")
    path = parts["path"]["spec"]["urlRewrite"]["path"]["replaceRegexMatch"]
    again = {"pattern": {"regex": path["pattern"]}, "substitution": path["substitution"]}
    fleet = _lua("fleet", parts["filter"])
    noted = _lua("noted", access_log_filter("noted", "modelplane-system", "gateway", tokens=True, passed="g"))
    routes = [
        _route(PREFIX, (), route={"cluster": "gateway", "timeout": "0s", "regex_rewrite": again}),
        _route("/v1", fleet, direct_response=_answer(503)),
        _route("/ml/chat/v1", noted, route={"cluster": "engine", "timeout": "0s", "prefix_rewrite": "/v1"}),
    ]
    buffer = {"@type": f"{_EXTENSIONS}.http.buffer.v3.Buffer", "max_request_bytes": _BUFFER}
    whole = [{"name": "buffer", "typed_config": buffer}]
    listeners = [
        _listener(gateway, [*fleet, *noted], routes),
        _listener(engine, whole, [_route("/v1", (), direct_response=_answer(200))]),
    ]
    return {
        "static_resources": {
            "listeners": listeners,
            "clusters": [_cluster("gateway", gateway), _cluster("engine", engine)],
        }
    }


@contextmanager
def _running() -> Iterator[tuple[int, int]]:
    """Run Envoy; return the ports of the gateway and the engine."""
    ports = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "envoy.json")
        file.write_text(json.dumps(_configuration(*ports)))
        command = (envoy(), "--config-path", file, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "off")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=sys.stderr) as process:
            try:
                for port in ports:
                    _wait_for(port)
                yield ports
            finally:
                process.terminate()


def _wait_for(port: int) -> None:
    end = time.monotonic() + START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def _caller(port: int, path: str, size: int) -> Iterator[Callable[[], None]]:
    """Give what sends a request of about a size and waits for its answer, always on the same connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    text = {"model": "ml/chat", "messages": [{"role": "user", "content": ""}]}
    text["messages"] = [{"role": "user", "content": "a" * (size - len(json.dumps(text)))}]
    body = json.dumps(text).encode()

    def call() -> None:
        connection.request("POST", f"{path}/chat/completions", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{path} answered {answer.status}")

    yield call
    connection.close()


def _milliseconds(call: Callable[[], None]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[len(values) * percent // 100]


def _each_second(at: tuple[int, str]) -> float:
    """Return how many requests are answered in a second on several connections."""

    def send(call: Callable[[], None]) -> None:
        for _ in range(AT_ONCE // CONNECTIONS):
            call()

    with ExitStack() as stack, ThreadPoolExecutor(CONNECTIONS) as pool:
        calls = [stack.enter_context(_caller(*at, _SMALLEST)) for _ in range(CONNECTIONS)]
        began = time.perf_counter()
        list(pool.map(send, calls))
        return AT_ONCE / (time.perf_counter() - began)


def _one_by_one(ways: Mapping[str, tuple[int, str]], size: int, requests: int) -> dict[str, list[float]]:
    """Return the milliseconds of requests on each way, which take turns."""
    spent: dict[str, list[float]] = {way: [] for way in ways}
    with ExitStack() as stack:
        calls = {way: stack.enter_context(_caller(*at, size)) for way, at in ways.items()}
        for _ in range(requests):
            for way, call in calls.items():
                spent[way].append(_milliseconds(call))
    return spent


def gateway() -> Iterator[Figure]:
    """Yield latencies with and without the gateway, and requests a second, all measured in one run."""
    with _running() as (front, engine):
        ways = {"direct": (engine, "/v1"), "service URL": (front, "/ml/chat/v1"), "fleet URL": (front, "/v1")}
        through = ("service URL", "fleet URL")
        for named, (size, requests) in SIZES.items():
            spent = _one_by_one(ways, size, requests)
            for way in through:
                for percent in (50, 99):
                    value, bare = (_percentile(spent[each], percent) for each in (way, "direct"))
                    yield Figure(f"gateway, {way}, {named}, p{percent}", value, "ms", yardstick=bare)
            once, twice = (_percentile(spent[way], 50) for way in through)
            yield compared(f"gateway, fleet URL over service URL, {named}, p50", twice, once, LIMIT, "ms")
        rates = {way: _each_second(at) for way, at in ways.items()}
        for way in through:
            name = f"gateway, {way}, {CONNECTIONS} connections"
            yield Figure(name, rates[way], "requests/s", yardstick=rates["direct"])
