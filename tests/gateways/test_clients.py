"""The URL as clients use it: what one caller sends harms no other, errors have words, and each can be traced."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT, CURL
from gateways.live import SERVED, LiveFleet
from modelplane.kube.gateway.answers import LONGEST_ID
from modelplane.model.names import ENGINE_PORT
from modelplane_dev.components.builds import litellm
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.gateways.engine import RETRY_AFTER
from modelplane_dev.plane.gateways.live import ADDRESS, QUIET_ADDRESS
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.usage import usage

pytestmark = pytest.mark.usefixtures("engines")

FLEET = f"http://{ADDRESS}/v1"
CHATS = "/v1/chat/completions"
KEY = "key-of-ann"
ORIGIN = "https://chat.example.com"
STREAMS = 20
#: How an answer begins where a request has more headers than the gateway takes.
TOO_MANY = "HTTP/1.1 431 Request Header Fields Too Large"
#: Requests whose times are measured, with one caller and with several.
TIMED, CALLERS = 320, (1, 16)
#: Milliseconds that half of them stay below on any machine.
SLOWEST = 1000.0
#: How much more processor time a request at the fleet URL takes of the gateway than one at the service's.
MOST_TIMES = 4.0
#: Fields of a request that asks for a websocket.
_UPGRADE = "Connection: Upgrade\r\nUpgrade: {}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2VjcmV0\r\n"


def _serve(live: LiveFleet, name: str, **spec: Any) -> str:
    """Make a service over both replicas of `llama`, and return its URL once they are its endpoints."""
    manifest = model_service(name, live.fleet.tag, {"llama": 1})
    manifest["spec"] |= spec
    live.fleet.plane.hub.api.apply(manifest)
    eventually(lambda: live.assert_endpoints(name, 2), within=SOON)
    return live.url(name)


def _serve_keyed(live: LiveFleet, name: str, **spec: Any) -> str:
    """Make such a service whose caller ann has a key, and return its URL once that lets her in."""
    metadata = {"name": name, "namespace": live.fleet.tag}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": KEY}}
    live.fleet.plane.hub.api.apply(secret)
    url = _serve(live, name, keys=[{"name": "ann", "secretRef": {"name": name, "key": "ann"}}], **spec)
    live.wait_answer(200, f"{url}{CHATS}", CHAT, f"Authorization: Bearer {KEY}")
    return url


def _beside_streams(live: LiveFleet, path: str, model: str, *odd: str, unfinished: str) -> Any:
    """Return what becomes of streams at a path while somebody sends odd requests, and what these are answered."""
    lines = "".join(f"{json.dumps([each, each != unfinished])}\n" for each in (*odd, unfinished))
    return json.loads(live.run_module("gateways.beside_streams", str(STREAMS), ADDRESS, path, model, text=lines))


def test_an_odd_request_ends_no_stream_of_another_caller_and_upgrades_are_refused_in_words(live: LiveFleet) -> None:
    url, tag = _serve(live, "shared"), live.fleet.tag
    live.wait_answer(200, f"{FLEET}/chat/completions", CHAT | {"model": f"{tag}/shared"})
    host, path = f"Host: {ADDRESS}", url.removeprefix(f"http://{ADDRESS}")
    upgrades = [
        f"GET {where} HTTP/1.1\r\n{host}\r\n{_UPGRADE.format(kind)}\r\n"
        for where in (f"{path}/v1/realtime", f"{path}/v1/realtime?model=x", "/v1/realtime", "/v1/models")
        for kind in ("websocket", "other/1")
    ]
    headers = [
        *("".join(f"X-A{number}: 1\r\n" for number in range(count - 1)) for count in (85, 94, 97, 100)),
        *(f"X-Long: {'x' * size}\r\n" for size in (50_000, 60_900, 61_300, 62_000)),
    ]
    many = [f"GET {path}/v1/models HTTP/1.1\r\n{host}\r\n{each}\r\n" for each in headers]
    half = f"POST {path}{CHATS} HTTP/1.1\r\n{host}\r\nContent-Length: 9\r\n\r\n{{"
    odd = [
        f"POST {path}{CHATS} HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        f"TRACE {path}/v1/models HTTP/1.1\r\n{host}\r\n\r\n",
        f"CONNECT {ADDRESS}:80 HTTP/1.1\r\n{host}\r\n\r\n",
        f"GET {path}/v1/models HTTP/1.1\r\n{host}\r\nExpect: 100-continue\r\nTE: trailers\r\n\r\n",
    ]
    for where, model in ((f"{path}{CHATS}", SERVED["llama"]), ("/v1/chat/completions", f"{tag}/shared")):
        found = _beside_streams(live, where, model, *upgrades, *many, *odd, unfinished=half)
        answers = found["answers"]
        assert found["whole"] == STREAMS, found
        assert {each.partition("\r\n")[0] for each in answers[len(upgrades) :][: len(many)]} == {TOO_MANY}, answers
        for answer in answers[: len(upgrades)]:
            head, _, body = answer.partition("\r\n\r\n")
            assert head.startswith("HTTP/1.1 400 "), answer
            assert json.loads(body)["error"]["code"] == "upgrade_not_supported"
    route = live.observed("shared").route["metadata"]["name"]
    assert live.gateways.public.statistic(route, "outlier_detection.ejections_active") == 0
    assert live.ask(f"{url}{CHATS}", CHAT).status == 200


def _errors(live: LiveFleet, *calls: Mapping[str, Any]) -> list[list[str | None]]:
    """Return what OpenAI's client makes of calls that fail."""
    usual = {"api_key": KEY, "model": SERVED["llama"], "headers": {}}
    lines = "".join(f"{json.dumps(usual | dict(each))}\n" for each in calls)
    found: list[list[str | None]] = json.loads(live.run_module("gateways.openai_errors", text=lines))
    return found


def test_openai_s_client_raises_the_exception_of_each_error_and_learns_when_to_come_again(live: LiveFleet) -> None:
    url, tag = f"{_serve_keyed(live, 'told')}/v1", live.fleet.tag
    calls: dict[str, dict[str, Any]] = {
        "a wrong key": {"base_url": url, "api_key": "wrong"},
        "a wrong key, at the fleet URL": {"base_url": FLEET, "api_key": "wrong", "model": f"{tag}/told"},
        "no such service": {"base_url": f"http://{ADDRESS}/{tag}/nope/v1"},
        "no such service, at the fleet URL": {"base_url": FLEET, "model": f"{tag}/nope"},
        "no such namespace, at the fleet URL": {"base_url": FLEET, "model": "a/b/c"},
        "no name of a model, at the fleet URL": {"base_url": FLEET, "model": "gpt-4"},
        "an engine fails in its own words": {"base_url": url, "headers": {"X-Status": "503"}},
        "an engine fails in no words": {"base_url": url, "headers": {"X-Status": "503 text"}},
        "an engine is busy": {"base_url": url, "headers": {"X-Status": "429"}},
    }
    found = dict(zip(calls, (each[:3] for each in _errors(live, *calls.values())), strict=True))
    assert found == {
        "a wrong key": ["AuthenticationError", "invalid_api_key", None],
        "a wrong key, at the fleet URL": ["AuthenticationError", "invalid_api_key", None],
        "no such service": ["NotFoundError", "model_not_found", None],
        "no such service, at the fleet URL": ["NotFoundError", "model_not_found", None],
        "no such namespace, at the fleet URL": ["NotFoundError", "model_not_found", None],
        "no name of a model, at the fleet URL": ["NotFoundError", "model_not_found", None],
        "an engine fails in its own words": ["InternalServerError", "told", RETRY_AFTER],
        "an engine fails in no words": ["InternalServerError", "unavailable", RETRY_AFTER],
        "an engine is busy": ["RateLimitError", "told", RETRY_AFTER],
    }


def test_litellm_s_client_raises_its_own_exception_of_each_error(live: LiveFleet) -> None:
    url, tag = f"{_serve_keyed(live, 'mapped')}/v1", live.fleet.tag
    calls: dict[str, tuple[dict[str, Any], list[Any]]] = {
        "an answer": ({"base_url": url}, ["This is an answer.", 200]),
        "an answer of the fleet": ({"base_url": FLEET, "model": f"{tag}/mapped"}, ["This is an answer.", 200]),
        "a wrong key": ({"base_url": url, "api_key": "wrong"}, ["AuthenticationError", 401]),
        "a wrong key of the fleet": (
            {"base_url": FLEET, "api_key": "wrong", "model": f"{tag}/mapped"},
            ["AuthenticationError", 401],
        ),
        "no such service": ({"base_url": f"http://{ADDRESS}/{tag}/nope/v1"}, ["NotFoundError", 404]),
        "no such service of the fleet": ({"base_url": FLEET, "model": f"{tag}/nope"}, ["NotFoundError", 404]),
        "no such model of the engine": ({"base_url": url, "model": "another"}, ["NotFoundError", 404]),
        "no name of a model": ({"base_url": FLEET, "model": "gpt-4"}, ["NotFoundError", 404]),
        "a busy engine": ({"base_url": url, "headers": {"X-Status": "429"}}, ["RateLimitError", 429]),
        "no endpoint": ({"base_url": url, "headers": {"X-Status": "503 text"}}, ["ServiceUnavailableError", 503]),
    }
    usual = {"api_key": KEY, "model": SERVED["llama"], "headers": {}}
    lines = "".join(f"{json.dumps(usual | call)}\n" for call, _ in calls.values())
    # Python without its other packages, and LiteLLM without what it would fetch.
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(litellm()), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = (sys.executable, "-S", ROOT / "tests/gateways/litellm_errors.py")
    found = json.loads(live.gateways.public.network.output(*command, environment=environment, text=lines))
    assert dict(zip(calls, found, strict=True)) == {name: expected for name, (_, expected) in calls.items()}


def test_errors_can_be_read_by_pages_of_the_origins_that_may_call(live: LiveFleet) -> None:
    url = f"{_serve_keyed(live, 'pages-read', cors={'allowOrigins': [ORIGIN]})}{CHATS}"
    key, origin = f"Authorization: Bearer {KEY}", f"Origin: {ORIGIN}"
    for status, headers in (
        (401, ()),
        (503, (key, "X-Status: 503 text")),
        (503, (key, "X-Status: 503")),
        (200, (key,)),
    ):
        answer, found = live.ask_with_headers(url, CHAT, origin, *headers)
        assert (answer.status, found.get("access-control-allow-origin")) == (status, ORIGIN), found


def test_an_answer_has_the_id_of_its_request_and_the_log_has_id_and_reason_of_each(live: LiveFleet) -> None:
    tag = live.fleet.tag
    url = _serve_keyed(live, "traced", rateLimit={"requests": 40, "per": "Hour"})
    key = f"Authorization: Bearer {KEY}"
    fleet = CHAT | {"model": f"{tag}/traced"}
    for name, status, (where, body, *headers) in (
        ("mine", 200, (f"{url}{CHATS}", CHAT, key)),
        ("by-fleet", 200, (f"{FLEET}/chat/completions", fleet, key)),
        ("refused", 401, (f"{url}{CHATS}", CHAT)),
        ("refused-by-fleet", 401, (f"{FLEET}/chat/completions", fleet)),
        ("failed", 503, (f"{url}{CHATS}", CHAT, key, "X-Status: 503 text")),
        ("unknown", 404, (f"{FLEET}/chat/completions", CHAT | {"model": f"{tag}/nope"})),
        ("unnamed", 400, (f"{FLEET}/chat/completions", {"messages": []})),
    ):
        answer, found = live.ask_with_headers(where, body, f"x-request-id: {name}-{tag}", *headers)
        assert (answer.status, found["x-request-id"]) == (status, f"{name}-{tag}"), name
    _, found = live.ask_with_headers(f"{url}{CHATS}", CHAT, key)
    given = found["x-request-id"]
    assert len(given) == 36
    _, found = live.ask_with_headers(f"{url}{CHATS}", CHAT, f"x-request-id: {'x' * 300}")
    assert found["x-request-id"] == "x" * LONGEST_ID

    def limited() -> None:
        answer, found = live.ask_with_headers(f"{url}{CHATS}", CHAT, key, f"x-request-id: limited-{tag}")
        assert answer.status == 429
        assert int(found["retry-after"]) > 0

    eventually(limited, within=SOON, every=0.0)

    def logged() -> None:
        lines = live.gateways.public.access_log()
        of = {name: [each for each in lines if each["request_id"] == f"{name}-{tag}"] for name in EXPECTED}
        seen = {name: sorted((each["status"], each["reason"]) for each in found) for name, found in of.items()}
        assert seen == EXPECTED
        assert [each for each in lines if each["request_id"] == given]
        limits = [each["reason"] for each in lines if each["request_id"] == f"limited-{tag}" and each["status"] == 429]
        assert limits == ["local_rate_limited"]

    eventually(logged, within=SOON)


#: Status and reason of each line that the log has of a request, by its id.
EXPECTED: dict[str, list[tuple[int, str]]] = {
    "mine": [(200, "via_upstream")],
    "by-fleet": [(200, "via_upstream")] * 2,
    "refused": [(401, "missing_api_key")],
    "refused-by-fleet": [(401, "missing_api_key"), (401, "via_upstream")],
    "failed": [(503, "via_upstream")],
    "unknown": [(404, "lua_response"), (404, "via_upstream")],
    "unnamed": [(400, "lua_response")],
}


def test_the_fleet_url_takes_what_is_no_json_for_a_service_in_a_header_and_else_says_which_url_does(
    live: LiveFleet,
) -> None:
    tag = live.fleet.tag
    _serve_keyed(live, "kinds")
    by_header, by_path, unnamed = (
        json.loads(live.run_module("gateways.openai_kinds", *asked))
        for asked in ((FLEET, KEY, f"{tag}/kinds"), (f"{live.url('kinds')}/v1", KEY), (FLEET, KEY))
    )
    for found in (by_header, by_path):
        assert {status for status, _ in found.values()} == {200}, found
        bodies = {name: json.loads(text) for name, (_, text) in found.items()}
        assert [each["id"] for each in bodies.pop("models")["data"]] == [SERVED["llama"], "adapter"]
        assert {name: f"{body['method']} {body['path']}" for name, body in bodies.items()} == KINDS
    assert f"{tag}/kinds" not in unnamed.pop("models")[1]
    assert unnamed.keys() == KINDS.keys()
    for status, text in unnamed.values():
        error = json.loads(text)["error"]
        assert (status, error["code"]) == (400, "model_required")
        assert f"http://{ADDRESS}/<namespace>/<service>/v1" in error["message"]
    for path, body in (("models", None), ("chat/completions", CHAT)):
        assert live.ask(f"{FLEET}/{path}", body, f"x-model: {tag}/kinds").status == 401
        assert live.ask(f"{FLEET}/{path}", body, f"x-model: {tag}/none").code == "model_not_found"
        assert live.ask(f"{FLEET}/{path}", body, "x-model: ../kinds").code == "model_not_found"
    assert live.ask(f"{FLEET}/models/file").code == "model_not_found"
    large = CHAT | {"user": "x" * (9 * 2**20)}
    answer = live.ask_large(f"{FLEET}/chat/completions", large, f"x-model: {tag}/kinds", f"Authorization: Bearer {KEY}")
    assert answer.status == 200


#: What the engine sees of calls that are no chats.
KINDS = {
    "form": "POST /v1/audio/transcriptions",
    "file": "POST /v1/files",
    "read a file": "GET /v1/files/file-1",
    "delete a file": "DELETE /v1/files/file-1",
    "batch": "POST /v1/batches",
    "read a batch": "GET /v1/batches/batch-1",
}


def test_a_load_balancer_may_ask_by_http_1_0(live: LiveFleet) -> None:
    ask = (*CURL, "--http1.0", "--output", "/dev/null", "--write-out", "%{http_code}")
    for host in ((), ("--header", "Host;")):
        assert live.gateways.public.network.output(*ask, *host, f"http://{ADDRESS}/healthz") == "200"


@pytest.mark.usefixtures("quiet_provider")
def test_the_url_costs_milliseconds(live: LiveFleet) -> None:
    """Its figures are for reading: what a machine does beside them adds to them, to the ratios less.

    The processor time is that of the public gateway's Envoy for each request, those that open connections included.
    """
    url, named = _serve(live, "timed"), f"{live.fleet.tag}/timed/{SERVED['llama']}"
    live.wait_answer(200, f"{FLEET}/chat/completions", CHAT | {"model": named})
    ways = {
        "direct": (f"http://{QUIET_ADDRESS}:{ENGINE_PORT}", SERVED["llama"]),
        "service": (url, SERVED["llama"]),
        "fleet": (f"http://{ADDRESS}", named),
    }
    envoy = live.gateways.public.envoy.pid
    for callers in CALLERS:
        found: dict[str, tuple[float, float, float]] = {}
        for way, (base, model) in ways.items():
            before = usage(envoy).cpu
            p50, p99 = json.loads(live.run_module("gateways.latency", str(TIMED), str(callers), base, model))
            found[way] = p50, p99, (usage(envoy).cpu - before) * 1000 / (TIMED + callers)
            assert p50 < SLOWEST
        (direct, *_), (_, _, once), (_, _, twice) = (found[way] for way in ways)
        for way, (p50, p99, busy) in found.items():
            live.fleet.figures.append(
                f"{callers:2} callers, {way:7}: p50 {p50:.2f} ms ({p50 / direct:.1f} times direct), p99 {p99:.2f} ms, "
                f"{busy:.2f} ms of Envoy's processor"
            )
        # A request at the fleet URL passes the gateway twice, and its model is searched for.
        assert 0 < twice < MOST_TIMES * once, found
