"""What the filters of the gateways make of requests and answers, in an Envoy without Envoy Gateway."""

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from gateways.envoy_alone import COMPARED, MODEL, OTHER, OWN, PAID, REQUESTS, EnvoyAlone, envoy_alone
from modelplane.kube.gateway.answers import LONGEST_ID

#: What a provider says of a request that its credential is not enough for, and what OpenAI's API says of a key.
SCOPES = '{"error": {"message": "Missing scopes: model.request. Key sk-abcdefgh1234.", "code": null}}'
#: More of a body than a gateway holds to replace the name of the model in it.
LARGE = 17 * 2**20


#: Callers at one time.
CALLERS = 8
#: Seconds after which Envoy compares endpoints again.
INTERVAL = 2.0


@pytest.fixture(scope="module")
def alone() -> Iterator[EnvoyAlone]:
    """Run Envoy."""
    with envoy_alone() as running:
        yield running


def _connection(alone: EnvoyAlone) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection("127.0.0.1", alone.port, timeout=60))


def _ask(
    alone: EnvoyAlone, path: str, headers: Mapping[str, str] | None = None, body: str | None = None, method: str = "GET"
) -> tuple[int, str]:
    with _connection(alone) as connection:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def _error(text: str) -> tuple[str, str]:
    error = json.loads(text)["error"]
    return error["code"], error["message"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (SCOPES, " It says: Missing scopes: model.request. Key ***"),
        ("no JSON", ""),
        ("", ""),
        ('{"error": {"message": "' + 900 * "word " + '"}}', f" It says: {60 * 'word '}"),
        ('{"message": "caf\u00e9 1"}', " It says: caf"),
        ('{"message": "a \\\\"quote\\\\""}', " It says: a "),
    ],
)
def test_a_provider_s_401_is_quoted_as_502(alone: EnvoyAlone, body: str, said: str) -> None:
    headers = {"X-Status": "401", "X-Body": body.encode().decode("latin-1")}
    status, text = _ask(alone, "/provider/v1/models", headers)
    refused = "The provider does not accept the credential of its ModelEndpoint for this request."
    assert (status, _error(text)) == (502, ("provider_unauthorized", f"{refused}{said}"))


def test_a_provider_s_401_to_one_caller_ejects_it_for_no_other(alone: EnvoyAlone) -> None:
    for _ in range(10):
        assert _ask(alone, "/provider/v1/models", {"X-Status": "401", "X-Body": SCOPES})[0] == 502
    answers = {_ask(alone, "/provider/v1/models")[1] for _ in range(10)}
    assert (PAID in answers, alone.active_ejections()) == (False, 0)


@pytest.mark.parametrize(
    ("way", "status", "seen"), [("engine", 503, 503), ("engine", 502, 502), ("provider", 401, 502)]
)
@pytest.mark.parametrize("body", ["", "plain"])
def test_the_answer_to_head_has_no_body_that_shifts_the_next(
    alone: EnvoyAlone, way: str, status: int, seen: int, body: str
) -> None:
    told = f"X-Status: {status}\r\nX-Body: {body}\r\nX-Type: text/plain\r\n"
    head = f"HEAD /{way}/v1/models HTTP/1.1\r\nHost: a\r\n{told}\r\n"
    then = f"GET /{way}/v1/models HTTP/1.1\r\nHost: a\r\nX-Body: second\r\nConnection: close\r\n\r\n"
    with alone.connect() as connection:
        connection.sendall(f"{head}{then}".encode())
        found = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    first, second, *more = found.split("\r\n\r\n")
    assert first.startswith(f"HTTP/1.1 {seen} "), found
    assert second.startswith("HTTP/1.1 200 "), found
    assert more == ["second"]


@pytest.mark.parametrize("count", [85, 92, 94, 97, 100])
def test_headers_that_the_next_gateway_would_reset_are_refused(alone: EnvoyAlone, count: int) -> None:
    # The client sends Host and Accept-Encoding by itself.
    status, text = _ask(alone, "/site/v1/models", {f"X-A{number}": "1" for number in range(count - 2)})
    assert status == 431
    assert not text.startswith("{") or _error(text)[0] == "request_headers_too_large"
    assert alone.active_ejections() == 0


@pytest.mark.parametrize("size", [50_000, 55_000, 60_000, 60_900, 61_300, 62_000])
def test_bytes_of_headers_that_the_next_gateway_would_reset_are_refused(alone: EnvoyAlone, size: int) -> None:
    status, _ = _ask(alone, "/site/v1/models", {"X-Long": "x" * size})
    assert (status, alone.active_ejections()) == (431, 0)


def test_as_many_headers_as_clients_send_are_taken(alone: EnvoyAlone) -> None:
    usual = {f"X-A{number}": "1" for number in range(60)}
    for headers in (usual, {"Cookie": "; ".join(f"c{number}=1" for number in range(150))}, {"X-Long": "x" * 48_000}):
        assert _ask(alone, "/site/v1/models", headers)[0] == 200
    assert alone.active_ejections() == 0


def test_a_body_that_is_no_json_goes_to_a_provider_as_it_comes_and_a_large_one_of_json_is_refused_in_words(
    alone: EnvoyAlone,
) -> None:
    path, form = "/provider/v1/audio/transcriptions", {"Content-Type": "multipart/form-data; boundary=x"}
    named = {"Content-Type": "application/json"}
    status, text = _ask(alone, path, form, "x" * LARGE, "POST")
    assert (status, json.loads(text)) == (200, {"bytes": LARGE, "model": None})
    status, text = _ask(alone, path, named, '{"model": "a"}', "POST")
    assert (status, json.loads(text)["model"]) == (200, MODEL)
    status, text = _ask(alone, path, named, json.dumps({"model": "a", "user": "x" * LARGE}), "POST")
    assert (status, _error(text)[0]) == (413, "request_too_large")


def test_a_request_that_lasts_too_long_for_its_service_ejects_no_endpoint(alone: EnvoyAlone) -> None:
    def ask(_: int) -> tuple[int, str]:
        return _ask(alone, "/limited/v1/models", {"X-Seconds": "0.6"})

    with ThreadPoolExecutor(CALLERS) as pool:
        answers = [*pool.map(ask, range(CALLERS)), *map(ask, range(3))]
    assert {(status, _error(text)[0]) for status, text in answers} == {(504, "timeout")}
    assert alone.active_ejections() == 0


def test_a_request_that_is_not_complete_in_time_is_answered_in_words(alone: EnvoyAlone) -> None:
    with alone.connect() as connection:
        connection.sendall(b"POST /limited/v1/models HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 408 "), head
    assert _error(body)[0] == "request_timeout"
    assert alone.active_ejections() == 0


def test_no_caller_sets_limits_of_time_or_tries_of_the_gateway_s_own(alone: EnvoyAlone) -> None:
    asked = {"x-envoy-upstream-rq-timeout-ms": "1", "x-envoy-upstream-rq-per-try-timeout-ms": "1"}
    asked |= {"x-envoy-max-retries": "9", "x-envoy-retry-on": "5xx", "x-envoy-hedge-on-per-try-timeout": "true"}
    for _ in range(4):
        assert _ask(alone, "/site/v1/models", {**asked, "X-Seconds": "0.1"})[0] == 200
    assert alone.active_ejections() == 0


def _pipeline(alone: EnvoyAlone, session: str, status: int, count: int = 1) -> str:
    """Send requests one behind the other, and return all answers."""
    request = f"GET /affine/v1/models HTTP/1.1\r\nHost: a\r\nX-Session: {session}\r\nX-Status: {status}\r\n"
    with alone.connect() as connection:
        connection.sendall(f"{request}\r\n".encode() * (count - 1) + f"{request}Connection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_the_errors_of_one_caller_s_requests_eject_no_endpoint_whose_others_are_good(alone: EnvoyAlone) -> None:
    sessions = {
        _pipeline(alone, f"s-{number}", 200).partition("x-endpoint: ")[2].split()[0]: f"s-{number}"
        for number in range(60)
    }
    assert len(sessions) == COMPARED
    caller, *others = sessions.values()
    end = time.monotonic() + 3 * INTERVAL
    while time.monotonic() < end:
        assert _pipeline(alone, caller, 500, REQUESTS).count("HTTP/1.1 500 ") == REQUESTS
        for other in others:
            assert _pipeline(alone, other, 200, REQUESTS).count("HTTP/1.1 200 ") == REQUESTS
    assert alone.active_ejections() == 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("mine-1", True),
        ("0123456789abcdef" * 8, True),
        ("0123456789abcdef" * 8 + "0", False),
        ("x" * 20_000, False),
        ("", False),
        (" ", False),
        ('{"a": "b"}', False),
        ("caf\u00e9", False),
        ("a b", False),
    ],
)
def test_a_caller_s_id_of_a_request_is_kept_if_it_is_one(alone: EnvoyAlone, given: str, kept: bool) -> None:
    found = []
    for _ in range(2):
        with _connection(alone) as connection:
            connection.request("GET", "/engine/v1/models", headers={"X-Request-Id": given})
            answer = connection.getresponse()
            found.append(answer.getheader("x-request-id", ""))
    assert (set(found) == {given}) is kept, found
    assert len(set(found)) == (1 if kept else 2)
    assert all(0 < len(each) <= LONGEST_ID for each in found)


def test_a_namespace_may_have_the_name_of_the_route_for_unknown_paths(alone: EnvoyAlone) -> None:
    assert _ask(alone, "/unknown-paths/chat/v1/models")[0] == 200
    status, text = _ask(alone, "/ml/nope/v1/models")
    assert (status, _error(text)[0]) == (404, "model_not_found")


@pytest.mark.parametrize("passed", [OWN, f"cdn, {OWN}; a=b", f"{OTHER}, {OWN}"])
def test_a_request_that_has_passed_the_gateway_before_goes_nowhere(alone: EnvoyAlone, passed: str) -> None:
    before = len(alone.reached)
    status, text = _ask(alone, "/provider/v1/models", {"CDN-Loop": passed})
    assert (status, _error(text)[0], len(alone.reached)) == (508, "loop_detected", before)


@pytest.mark.parametrize(
    "named", [{}, {"Connection": "cdn-loop, close"}, {"Connection": "cdn-loop", "CDN-Loop": "cdn"}]
)
@pytest.mark.parametrize("way", ["provider", "site", "engine"])
def test_a_caller_cannot_take_away_where_a_request_has_passed(
    alone: EnvoyAlone, way: str, named: dict[str, str]
) -> None:
    assert _ask(alone, f"/{way}/v1/models", named)[0] == 200
    assert alone.reached[-1].get("cdn-loop", "").split(",")[-1].strip() == OWN


@pytest.mark.parametrize(("passed", "tries"), [("", 4), ("cdn", 4), (OTHER, 1)])
def test_what_has_passed_another_gateway_of_modelplane_is_tried_once(
    alone: EnvoyAlone, passed: str, tries: int
) -> None:
    before = len(alone.reached)
    headers = {"X-Status": "429", **({"CDN-Loop": passed} if passed else {})}
    assert _ask(alone, "/provider/v1/models", headers)[0] == 429
    assert len(alone.reached) - before == tries


def test_an_answer_acts_on_no_other_service_in_a_browser(alone: EnvoyAlone) -> None:
    shared = {
        "Set-Cookie": "session=mine; Path=/",
        "Service-Worker-Allowed": "/",
        "Alt-Svc": 'h2="elsewhere.example:443"',
        "Clear-Site-Data": '"*"',
        "Strict-Transport-Security": "max-age=31536000",
        "Reporting-Endpoints": 'default="https://elsewhere.example"',
    }
    own = {"X-Own": "a", "Content-Security-Policy": "default-src *"}
    with _connection(alone) as connection:
        headers = {"X-Headers": json.dumps(shared | own), "X-Type": "text/html", "X-Body": "<script></script>"}
        connection.request("GET", "/engine/v1/models", None, headers)
        answer = connection.getresponse()
        answer.read()
    assert [name for name in shared if answer.getheader(name)] == []
    assert answer.getheader("X-Own") == "a"
    assert answer.getheader("Content-Security-Policy") == "sandbox"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
