"""What is read from the statistics of the gateway's Envoys."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from modelplane.observe.ejections import MOST_ROUTES, Gateway, addresses, merge, parse

NAME = "envoy_cluster_outlier_detection_ejections_active"


def line(cluster: str, count: object, name: str = NAME) -> str:
    return f'{name}{{envoy_cluster_name="{cluster}"}} {count}'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        (line("httproute/ml/chat-1/rule/0", 2), {"ml/chat-1": 2}),
        (line("httproute/ml/chat-1/rule/0", 0), {}),
        (line("httproute/ml/a/rule/0", 2) + "\n" + line("httproute/ml/a/rule/1", 1), {"ml/a": 3}),
        (line("httproute/ml/a/rule/0", 2) + "\n" + line("httproute/other/a/rule/0", 1), {"ml/a": 2, "other/a": 1}),
        (f"# TYPE {NAME} gauge\n" + line("httproute/ml/a/rule/0", 1), {"ml/a": 1}),
        (f'{NAME}{{zone="",envoy_cluster_name="httproute/ml/a/rule/0"}} 1', {"ml/a": 1}),
        (line("xds_cluster", 1), {}),
        (line("httproute/ml/a/rule/0", -1), {}),
        (line("httproute/ml/a/rule/0", "NaN"), {}),
        (line("httproute/ml/a/rule/0", 9 * "9"), {}),
        (line("httproute/ML/a/rule/0", 1), {}),
        (line("httproute/ml/a/rule/0", 1, name=f"{NAME}_total"), {}),
        ("<html>", {}),
    ],
)
def test_routes_with_ejected_endpoints_are_read_and_whatever_else_there_is_not(
    text: str, found: dict[str, int]
) -> None:
    assert parse(text) == found


def test_of_several_envoys_the_most_counts() -> None:
    assert merge([{"ml/a": 1}, {"ml/a": 3, "ml/b": 1}, {}]) == {"ml/a": 3, "ml/b": 1}


def test_of_too_many_routes_those_with_the_most_are_published() -> None:
    counts = {f"ml/r{number}": 1 for number in range(MOST_ROUTES)} | {"ml/worst": 2}
    found = merge([counts])
    assert (len(found), found["ml/worst"]) == (MOST_ROUTES, 2)


def test_envoys_that_are_not_ready_are_not_asked() -> None:
    slices = {
        "items": [
            {"endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}, {"addresses": ["10.0.0.2"]}]},
            {"endpoints": [{"addresses": ["10.0.0.3"], "conditions": {"ready": False}}]},
            {"endpoints": None},
        ]
    }
    assert [*addresses(slices)] == ["10.0.0.1", "10.0.0.2"]


class Slices:
    """An API server with EndpointSlices of two Envoys."""

    def __init__(self, *hosts: str) -> None:
        self.hosts = hosts

    def get(self, path: str) -> dict[str, Any]:
        """Return the list."""
        assert path.startswith("/apis/discovery.k8s.io/v1/namespaces/envoy-gateway-system/endpointslices?")
        return {"items": [{"endpoints": [{"addresses": list(self.hosts)}]}]}


@contextmanager
def envoy(status: int, text: str) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "text", "hosts", "found"),
    [
        (200, line("httproute/ml/a/rule/0", 1), ["127.0.0.1"], {"ml/a": 1}),
        (200, "", ["127.0.0.1"], {}),
        (503, line("httproute/ml/a/rule/0", 1), ["127.0.0.1"], None),
        (200, line("httproute/ml/a/rule/0", 1), ["127.0.0.1", "127.0.0.2"], {"ml/a": 1}),
        (200, line("httproute/ml/a/rule/0", 1), ["127.0.0.2"], None),
        (200, "", [], None),
    ],
)
def test_nothing_is_known_while_no_envoy_answers(
    status: int, text: str, hosts: list[str], found: dict[str, int] | None
) -> None:
    with envoy(status, text) as port:
        server: Any = Slices(*hosts)
        assert Gateway(server, port).read() == found
