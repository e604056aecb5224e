"""Who may call a service, and how often: on real gateways, with engines that say what has reached them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from e2e.fleet import SOON
from e2e.services import SERVICE, model_service
from gateways.calls import CHAT, Answer, in_time
from gateways.live import LiveFleet
from gateways.live_pages import open_page
from gateways.openai_calls import LONG
from gateways.passes import LivePasses
from modelplane.model.names import INFERENCE_GATEWAY
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.waiting import eventually

pytestmark = pytest.mark.usefixtures("engines")

SECRET = Kind("v1", "Secret")
#: Seconds within which a changed key counts.
CHANGED_KEY = 15.0
#: Services that are tried in turn, each of which makes routes change no more once they rest.
_TRIES = 20

Found = TypeVar("Found")


def _serve(live: LiveFleet, name: str, **spec: Any) -> str:
    """Make a service, and return the URL of its chats."""
    manifest = model_service(name, live.fleet.tag, {"llama": 1})
    manifest["spec"] |= spec
    live.fleet.plane.hub.api.apply(manifest)
    return f"{live.url(name)}/v1/chat/completions"


def _write_keys(live: LiveFleet, name: str, **keys: str) -> list[dict[str, Any]]:
    """Write a Secret with keys; return them as a service names them."""
    metadata = {"name": name, "namespace": live.fleet.tag}
    live.fleet.plane.hub.api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": keys})
    return [{"name": each, "secretRef": {"name": name, "key": each}} for each in keys]


def _bearer(key: str) -> str:
    return f"Authorization: Bearer {key}"


def _refused(answer: Answer) -> bool:
    return (answer.status, answer.code) == (401, "invalid_api_key") if answer.status != 200 else False


def test_a_key_lets_its_caller_in_and_reaches_no_engine(live: LiveFleet) -> None:
    url = _serve(live, "keyed", keys=_write_keys(live, "keyed", ann="key-of-ann", ben="key-of-ben"))
    live.wait_answer(200, url, CHAT, _bearer("key-of-ann"))
    for header in (_bearer("key-of-ben"), "x-api-key: key-of-ben"):
        answer = live.ask(url, CHAT, header, "x-modelplane-caller: ann")
        assert answer.status == 200
        assert not {"authorization", "x-api-key", "x-modelplane-caller"} & answer.body["headers"].keys()
        assert "key-of-ben" not in answer.text
    assert _refused(live.ask(url, CHAT))
    for wrong in (_bearer("key-of-eve"), "x-modelplane-caller: ann", "Authorization: Basic key", "x-api-key;"):
        assert _refused(live.ask(url, CHAT, wrong)), wrong
    admin = url.replace("chat/completions", "load_lora_adapter")
    answer = live.ask(admin, {}, _bearer("key-of-ann"))
    assert (answer.status, answer.code) == (404, "not_found")
    assert live.ask(admin, {}).status == 401


def test_a_changed_key_counts_within_15_seconds_and_two_of_one_caller_overlap(live: LiveFleet) -> None:
    keys = _write_keys(live, "rotated", old="first", new="second")
    url = _serve(live, "rotated", keys=keys)
    live.wait_answer(200, url, CHAT, _bearer("first"))
    assert live.ask(url, CHAT, _bearer("second")).status == 200
    values = iter(("third", "fourth", "fifth"))

    def change() -> float:
        value = next(values)
        _write_keys(live, "rotated", new=value)
        return live.wait_answer(200, url, CHAT, _bearer(value))

    seconds = in_time(change, CHANGED_KEY)
    assert live.ask(url, CHAT, _bearer("first")).status == 200
    assert _refused(live.ask(url, CHAT, _bearer("second")))

    def put_back() -> None:
        live.fleet.plane.hub.api.patch(SERVICE, "rotated", {"spec": {"keys": keys}}, live.fleet.tag)
        live.wait_answer(200, url, CHAT, _bearer("first"))

    def remove() -> float:
        live.fleet.plane.hub.api.patch(SERVICE, "rotated", {"spec": {"keys": keys[1:]}}, live.fleet.tag)
        return live.wait_answer(401, url, CHAT, _bearer("first"))

    removed = in_time(remove, CHANGED_KEY, put_back)

    def give() -> None:
        _write_keys(live, "rotated", new="last")
        live.wait_answer(200, url, CHAT, _bearer("last"))

    def revoke() -> float:
        live.fleet.plane.hub.api.delete(SECRET, "rotated", live.fleet.tag)
        return live.wait_answer(401, url, CHAT, _bearer("last"))

    revoked = in_time(revoke, CHANGED_KEY, give)
    found = (
        f"{what} {took:.1f} s" for what, took in (("changed", seconds), ("removed", removed), ("deleted", revoked))
    )
    live.fleet.figures.append(f"until a key counts that is {', '.join(found)}")
    assert max(seconds, removed, revoked) < CHANGED_KEY


def test_between_any_two_writes_of_a_keyed_service_nobody_is_let_in_without_a_key(live: LiveFleet) -> None:
    spec = {"keys": [{"name": "ann", "secretRef": {"name": "keys", "key": "ann"}}]}
    passes = LivePasses(live, "guarded", spec=spec, secrets={"keys": {"ann": b"first"}})
    with live.watched(passes.url) as seen:
        passes.wait_answer(200, _bearer("first"))
        for change in ("another key", "pages may call", "every endpoint", "another entry", "no endpoint"):
            passes.change(change)
        passes.change("every endpoint")
        passes.wait_answer(200, _bearer("another"))
        for change in ("no usable key", "another key", "keys"):
            passes.change(change)
        passes.wait_answer(200, _bearer("another"))
    assert {status for status, _ in seen} <= {404, 401}, seen


@pytest.mark.proves("P101")
def test_a_connection_from_before_the_first_key_needs_a_key_too(live: LiveFleet) -> None:
    with live.early_connection(live.url("first")) as statuses:
        url = _serve(live, "first", keys=_write_keys(live, "first", ann="key-of-ann"))
        live.wait_answer(200, url, CHAT, _bearer("key-of-ann"))
    assert statuses == [404, 401]


@pytest.mark.proves("P101")
def test_a_connection_from_before_the_first_limit_is_limited_too(live: LiveFleet) -> None:
    def count(name: str) -> tuple[int, list[int]]:
        with live.early_connection(live.url(name)) as statuses:
            url = _serve(live, name, rateLimit={"requests": 1, "per": "Hour"})
            live.wait_answer(200, url, CHAT)
            changes = live.wait_until_routes_rest()
            live.wait_answer(429, url, CHAT)
        return changes, statuses

    assert _while_routes_rest(live, "early", count) == [404, 429]


@pytest.mark.proves("P101")
def test_pages_may_call_on_a_connection_from_before_the_first_origin_was_named(live: LiveFleet) -> None:
    origin = "https://chat.example.com"
    with live.early_connection(live.url("paged"), origin) as statuses:
        url = _serve(live, "paged", cors={"allowOrigins": [origin]})
        live.wait_answer(200, url, CHAT)
        asked = (f"Origin: {origin}", "Access-Control-Request-Method: POST")
        eventually(lambda: _assert_allowed(live.preflight(url, *asked), origin), within=SOON)
    assert statuses == [404, 200]


def _assert_allowed(answer: dict[str, str], origin: str) -> None:
    assert answer.get("access-control-allow-origin") == origin, answer


def test_a_gateway_that_requires_keys_closes_services_without(live: LiveFleet) -> None:
    api = live.fleet.plane.hub.api
    unkeyed = _serve(live, "unkeyed")
    keyed = _serve(live, "required", keys=_write_keys(live, "required", ann="key-of-ann"))
    live.wait_answer(200, unkeyed, CHAT)
    live.wait_answer(200, keyed, CHAT, _bearer("key-of-ann"))
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"requireKeys": True}})
    try:
        live.wait_answer(401, unkeyed, CHAT)
        assert _refused(live.ask(unkeyed, CHAT, _bearer("key-of-ann")))
        assert live.ask(keyed, CHAT, _bearer("key-of-ann")).status == 200
    finally:
        api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"requireKeys": False}})
    live.wait_answer(200, unkeyed, CHAT)


def test_a_limit_counts_all_requests(live: LiveFleet) -> None:
    url = _serve(live, "every", rateLimit={"requests": 2, "per": "Hour"})
    live.wait_answer(200, url, CHAT)

    def refused() -> None:
        answer = live.ask(url, CHAT)
        assert answer.status == 429, answer
        assert answer.code == "rate_limit_exceeded"

    eventually(refused, within=SOON)


def test_a_limit_of_each_caller_counts_25_of_them_each_for_itself(live: LiveFleet) -> None:
    keys = {f"caller-{number}": f"key-{number}" for number in range(25)}
    waited, *others = keys.values()

    def count(name: str) -> tuple[int, dict[str, list[int]]]:
        limit = {"requests": 2, "per": "Hour", "perCaller": True}
        url = _serve(live, name, rateLimit=limit, keys=_write_keys(live, name, **keys))
        live.wait_answer(200, url, CHAT, _bearer(waited))
        live.wait_answer(429, url, CHAT, _bearer(waited))
        changes = live.wait_until_routes_rest()
        found = {key: [live.ask(url, CHAT, _bearer(key)).status for _ in range(3)] for key in others}
        return changes, found | {"first, 23 others later": [live.ask(url, CHAT, _bearer(others[0])).status]}

    expected = {key: [200, 200, 429] for key in others} | {"first, 23 others later": [429]}
    assert _while_routes_rest(live, "each", count) == expected


def _while_routes_rest(live: LiveFleet, name: str, count: Callable[[str], tuple[int, Found]]) -> Found:
    """Return what `count` finds for a new service's name while the routes change no more often than it says.

    Envoy makes its limits anew with each change of any route of the gateway, and a service's own last pass may come
    after its first answers: what was counted meanwhile says nothing, and another service is tried.
    """
    for number in range(_TRIES):
        changes, found = count(f"limited-{name}-{number}")
        if live.gateways.public.route_changes() == changes:
            return found
    return pytest.fail(f"the routes of the gateway have changed in each of {_TRIES} tries")


def test_pages_of_named_origins_may_ask_before_they_call(live: LiveFleet) -> None:
    keys = _write_keys(live, "pages", ann="key-of-ann")
    url = _serve(live, "pages", keys=keys, cors={"allowOrigins": ["https://*.example.com"]})
    live.wait_answer(200, url, CHAT, _bearer("key-of-ann"))
    asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, x-stainless-os")
    own = live.preflight(url, "Origin: https://chat.example.com", *asked)
    assert own["access-control-allow-origin"] == "https://chat.example.com"
    assert "authorization" in own["access-control-allow-headers"].lower()
    assert "access-control-allow-origin" not in live.preflight(url, "Origin: https://evil.example.org", *asked)
    assert _refused(live.ask(url, CHAT, "Origin: https://chat.example.com"))


def test_a_request_that_lasts_too_long_is_ended_and_a_silent_one_too(live: LiveFleet) -> None:
    short = _serve(live, "short", timeouts={"request": "500ms", "idle": "1h"})
    silent = _serve(live, "silent", timeouts={"request": "0s", "idle": "500ms"})
    for url in (short, silent):
        live.wait_answer(200, url, CHAT)
        live.wait_answer(504, url, CHAT, "X-Wait: 2")
        assert live.ask(url, CHAT, "X-Wait: 2").code == "timeout"


def test_requests_with_the_same_value_of_a_header_go_to_the_same_endpoint(live: LiveFleet) -> None:
    url = _serve(live, "affine", affinity={"header": "x-session"})
    live.wait_answer(200, url, CHAT)

    def engines(session: str) -> set[str]:
        return {live.ask(url, CHAT, f"x-session: {session}").body["system_fingerprint"] for _ in range(4)}

    def spread() -> None:
        found = [engines(f"s-{number}") for number in range(12)]
        assert {len(each) for each in found} == {1}
        assert len(Counter(frozenset(each) for each in found)) == 2

    eventually(spread, within=SOON)


def test_the_log_says_who_called_which_service_where_it_went_and_what_it_cost(live: LiveFleet) -> None:
    url = _serve(live, "logged", keys=_write_keys(live, "logged", ann="key-of-ann"))
    live.wait_answer(200, url, CHAT, _bearer("key-of-ann"))
    stream = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
    live.ask(f"{url}?q=hidden", stream, _bearer("key-of-ann"))
    live.ask(url, CHAT)

    def logged() -> None:
        service = f"{live.fleet.tag}/logged"
        found = live.gateways.public.access_log()
        lines = [
            line for line in found if line["service"] == service or (line["path"] or "").startswith(f"/{service}/")
        ]
        answered = [line for line in lines if line["status"] == 200]
        assert len(answered) >= 2
        for line in answered:
            assert (line["caller"], line["service"], line["path"]) == ("ann", service, "/v1/chat/completions")
            assert line["endpoint"].endswith(".replicas.modelplane.internal")
            assert (line["attempts"], line["input_tokens"], line["output_tokens"]) == (1, 5, 5)
        # Until its keys were checked the service refused those too who have one.
        assert [line for line in lines if line["status"] == 401 and line["caller"] is None]
        assert not any(word in str(lines) for word in ("key-of-ann", "hidden"))

    eventually(logged, within=SOON)
    assert live.ask(f"http://{ADDRESS}/healthz").status == 200


def test_openai_s_client_chats_streams_embeds_reads_models_and_sends_2_mb(live: LiveFleet) -> None:
    url = _serve(live, "client", keys=_write_keys(live, "client", ann="key-of-ann"))
    live.wait_answer(200, url, CHAT, _bearer("key-of-ann"))
    assert live.call_by_openai(url.removesuffix("/chat/completions"), "key-of-ann") == {
        "chat": "This is an answer.",
        "long": LONG,
        "streamed": ["This", " is", " an", " answer", "."],
        "stream_tokens": [5],
        "embeddings": [[0.25, -0.5, 1.0]] * 2,
        "models": ["example/model", "adapter"],
        "refused": "invalid_api_key",
    }
    names = {"example/model": "example/model", "none": "404 not_found"}
    assert live.read_models(url.removesuffix("/chat/completions"), "key-of-ann", *names) == names


def test_the_page_on_keys_lets_callers_in_and_replaces_a_key(live: LiveFleet, tmp_path: Path) -> None:
    create, use, replace = open_page(live, "call-with-keys", tmp_path)
    live.shell(create, tmp_path)
    printed = live.shell(use, tmp_path)
    assert "example/model" in printed
    assert "Incorrect API key provided" in printed
    address = f'url=$(kubectl get modelservice chat -n {live.fleet.tag} -o jsonpath="{{.status.url}}")\n'
    assert "example/model" in live.shell(address + replace, tmp_path)
    _, _, canary, _ = open_page(live, "serve-a-model", tmp_path)
    live.shell(canary, tmp_path)
    chats = f"{live.url('chat')}/v1/chat/completions"
    assert _refused(live.ask(chats, CHAT)), "its keys are those of the page on keys"
    without = model_service("chat", live.fleet.tag, {"llama": 1})
    live.fleet.plane.hub.api.patch(SERVICE, "chat", {"spec": {**without["spec"], "keys": None}}, live.fleet.tag)

    def said() -> None:
        service = live.fleet.plane.hub.api.get(SERVICE, "chat", live.fleet.tag) or {}
        found = {each["type"]: each for each in service["status"]["conditions"]}
        assert "an edit has removed all keys" in found["RoutingReady"]["message"], found
        assert service["status"]["keys"] == "open, keys removed"

    live.wait_answer(200, chats, CHAT)
    eventually(said, within=SOON)
