"""The fake engine answers as engines do, so that what a gateway makes of it is not the fake's own mistake."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any

import pytest

from modelplane_dev.plane.gateways import load, watch
from modelplane_dev.plane.gateways.controller import served_models
from modelplane_dev.plane.gateways.engine import Engine, Server
from modelplane_dev.plane.waiting import eventually

#: Seconds that nothing here takes.
PATIENCE = 60.0


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        yield running
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


@pytest.fixture
def connection(server: Server) -> Iterator[HTTPConnection]:
    client = HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    try:
        yield client
    finally:
        client.close()


@pytest.mark.parametrize("body", ["{", "[]", '{"model": "m"}'], ids=["no JSON", "no object", "no messages"])
def test_a_request_that_cannot_be_answered_is_refused_on_a_connection_that_stays(
    connection: HTTPConnection, body: str
) -> None:
    for sent, expected in ((body, HTTPStatus.BAD_REQUEST), ('{"model": "m", "messages": []}', HTTPStatus.OK)):
        connection.request("POST", "/v1/chat/completions", sent)
        answer = connection.getresponse()
        assert answer.status == expected
        assert ("error" in json.loads(answer.read())) is (expected != HTTPStatus.OK)


def test_a_model_that_the_engine_does_not_serve_is_refused(
    connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "models", ("example/model", "adapter"))
    for model, expected in (("adapter", HTTPStatus.OK), ("try", HTTPStatus.NOT_FOUND)):
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": model, "messages": []}))
        answer = connection.getresponse()
        answer.read()
        assert answer.status == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--model=m"], ["m"]),
        (["--model", "m", "--port", "1"], ["m"]),
        (["--model=m", "--served-model-name", "a", "b", "--x"], ["a", "b"]),
        (["--lora-modules", "c=/c", "d=/d", "--model=m"], ["m", "c", "d"]),
    ],
)
def test_an_engine_serves_the_names_of_its_flags(args: list[str], expected: list[str]) -> None:
    assert served_models({"containers": [{"args": args}]}) == expected


def test_a_request_waits_no_longer_than_its_caller_does(connection: HTTPConnection) -> None:
    connection.request("POST", "/v1/chat/completions", '{"model": "m", "messages": []}', {"X-Wait": "3600"})
    eventually(lambda: _assert_waiting(1), within=PATIENCE)
    connection.close()
    eventually(lambda: _assert_waiting(0), within=PATIENCE)


def _assert_waiting(count: int) -> None:
    assert Engine.waiting == count


@pytest.mark.parametrize(
    ("program", "begun", "numbers", "expected"),
    [
        (
            load.__name__,
            load.BEGUN,
            ("8", "2", "5", "3"),
            lambda found: found[0]["200"] >= 3 and found[1] == {"200": 8},
        ),
        (watch.__name__, watch.BEGUN, (), lambda found: found[0][0] == 200 and found[0][1] >= 2 and len(found) == 1),
    ],
    ids=["load", "watch"],
)
def test_what_happens_between_the_line_and_the_end_of_the_input_happens_under_requests(
    server: Server, program: str, begun: str, numbers: tuple[str, ...], expected: Callable[[Any], bool]
) -> None:
    command = [sys.executable, "-m", program, f"http://127.0.0.1:{server.server_port}", *numbers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == f"{begun}\n"
        found = json.loads(process.communicate("", timeout=PATIENCE)[0])
    assert expected(found), found
