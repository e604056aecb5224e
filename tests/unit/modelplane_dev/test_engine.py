"""The fake engine answers as engines do, so that what a gateway makes of it is not the fake's own mistake."""

import json
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection

import pytest

from modelplane_dev.plane.gateways.engine import Engine, Server


@pytest.fixture
def connection() -> Iterator[HTTPConnection]:
    server = Server(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    client = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        yield client
    finally:
        client.close()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("body", ["{", "[]", '{"model": "m"}'], ids=["no JSON", "no object", "no messages"])
def test_a_request_that_cannot_be_answered_is_refused_on_a_connection_that_stays(
    connection: HTTPConnection, body: str
) -> None:
    for sent, expected in ((body, HTTPStatus.BAD_REQUEST), ('{"model": "m", "messages": []}', HTTPStatus.OK)):
        connection.request("POST", "/v1/chat/completions", sent)
        answer = connection.getresponse()
        assert answer.status == expected
        assert ("error" in json.loads(answer.read())) is (expected != HTTPStatus.OK)
