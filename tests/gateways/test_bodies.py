"""What bodies of callers without a key cost the gateway, in an Envoy without Envoy Gateway."""

import http.client
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial

import pytest

from gateways.envoy_alone import EnvoyAlone, envoy_alone
from modelplane.kube.gateway.fleet_filter import LIMIT
from modelplane_dev.plane.waiting import eventually

PATH = "/v1/chat/completions"
MODEL = '"model": "ml/chat"'
#: Connections that each announce a body of the largest size, and at most so many are held: 64 MiB.
MANY, HELD = 100, 64
#: Seconds in which a request is answered beside bodies that are as costly as can be.
AT_ONCE = 1.0
#: Seconds in which Envoy answers what it refuses.
PATIENCE = 0.5


@pytest.fixture(scope="module")
def alone() -> Iterator[EnvoyAlone]:
    """Run Envoy."""
    with envoy_alone() as running:
        yield running


def _ask(alone: EnvoyAlone, body: str, port: int | None = None, path: str = PATH) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port or alone.fleet, timeout=60)) as connection:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def _code(text: str) -> str:
    return str(json.loads(text)["error"]["code"])


def _announce(stack: ExitStack, alone: EnvoyAlone, size: str) -> socket.socket:
    """Announce a body, and send nothing of it."""
    connection = stack.enter_context(alone.connect(alone.fleet))
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{size}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


def _answer(connection: socket.socket) -> tuple[int, str] | None:
    """Return status and code of the answer that comes before the body, None for none."""
    connection.settimeout(0.01)
    found = http.client.HTTPResponse(connection)
    try:
        found.begin()
    except TimeoutError:
        return None
    return found.status, _code(found.read().decode())


def test_a_body_that_is_too_large_is_refused_before_it_comes(alone: EnvoyAlone) -> None:
    with ExitStack() as stack:
        connection = _announce(stack, alone, f"Content-Length: {LIMIT + 1}")
        time.sleep(PATIENCE)
        assert _answer(connection) == (413, "request_too_large")


def test_a_body_of_no_known_length_is_refused_before_it_comes(alone: EnvoyAlone) -> None:
    with ExitStack() as stack:
        connection = _announce(stack, alone, "Transfer-Encoding: chunked")
        time.sleep(PATIENCE)
        assert _answer(connection) == (411, "length_required")


def test_what_is_held_for_callers_that_nothing_is_known_of_has_a_bound(alone: EnvoyAlone) -> None:
    with ExitStack() as stack:
        connections = [_announce(stack, alone, f"Content-Length: {LIMIT}") for _ in range(MANY)]
        time.sleep(PATIENCE)
        assert Counter(map(_answer, connections)) == {None: HELD, (429, "rate_limit_exceeded"): MANY - HELD}
        assert _ask(alone, f"{{{MODEL}}}")[0] == 200  # a small one
        assert _ask(alone, f'{{{MODEL}, "user": "{"x" * 100_000}"}}')[0] == 429

    def taken() -> None:
        assert _ask(alone, f'{{{MODEL}, "user": "{"x" * 100_000}"}}')[0] == 200

    eventually(taken, within=10)  # those who held it have gone


@pytest.mark.parametrize("part", [",", "[", '\\"', '"":"",'])
def test_costly_bodies_keep_no_worker_busy(alone: EnvoyAlone, part: str) -> None:
    costly = (part * LIMIT)[: LIMIT - 2]
    body = f'{{"{costly}' if part.startswith("\\") else f"{{{costly}"
    started = time.monotonic()
    statuses = [_ask(alone, body)[0] for _ in range(20)]
    assert 429 in statuses
    first = time.monotonic()
    assert _ask(alone, f'{{{MODEL}, "messages": []}}')[0] == 200
    assert time.monotonic() - first < AT_ONCE
    assert first - started < 20 * AT_ONCE


def test_the_model_is_found_behind_long_messages(alone: EnvoyAlone) -> None:
    for messages in ([{"role": "user", "content": "x" * (LIMIT - 1000)}], [{"role": "user", "content": "a"}] * 5000):
        eventually(partial(_assert_found, alone, json.dumps({"messages": messages, "model": "ml/chat"})), within=10)


def _assert_found(alone: EnvoyAlone, body: str) -> None:
    status, text = _ask(alone, body)
    assert (status, json.loads(text)["model"]) == (200, "ml/chat")


def test_a_second_model_is_found_near_the_first_and_not_looked_for_far_behind(alone: EnvoyAlone) -> None:
    for between, status in ((100, 400), (60_000, 400), (70_000, 200)):
        body = f'{{{MODEL}, "user": "{"x" * between}", "stop": ["a"], "model": "ml/other"}}'
        assert _ask(alone, body)[0] == status


def test_costly_bodies_keep_no_worker_of_the_router_busy_either(alone: EnvoyAlone) -> None:
    body = f"{{{',' * (LIMIT - 1)}"
    answers = [_ask(alone, body, alone.port, "/provider/v1/chat/completions") for _ in range(4)]
    assert (429, "rate_limit_exceeded") in [(status, _code(text) if status == 429 else "") for status, text in answers]
