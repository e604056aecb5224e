"""The fleet URL on real gateways: who gets which request, and that keys hold whatever a request looks like."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.fleet import SOON
from e2e.services import SERVICE, model_service
from gateways.calls import CHAT, CURL
from gateways.live import OUTLASTS, SERVED, LiveFleet
from gateways.live_pages import open_page
from gateways.streams import QUIET, serve_endpoint, write_endpoint
from modelplane.kube.gateway.fleet_filter import LIMIT
from modelplane.model.names import INFERENCE_GATEWAY
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

pytestmark = pytest.mark.usefixtures("engines")

BASE = f"http://{ADDRESS}/v1"
URL = f"{BASE}/chat/completions"
KEY = "Authorization: Bearer key-of-ann"


@pytest.fixture(scope="module")
def services(fleet_with_gateways: LiveFleet, started_engines: dict[str, Process]) -> Iterator[str]:
    """Serve `open`, and `keyed`, which needs a key; give their namespace once both do as they should."""
    live = fleet_with_gateways
    live.run_engines(started_engines)
    tag, api = live.fleet.tag, live.fleet.plane.hub.api
    metadata = {"name": "keyed", "namespace": tag}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": "key-of-ann"}})
    opened, keyed = (model_service(name, tag, {"llama": 1}) for name in ("open", "keyed"))
    keyed["spec"]["keys"] = [{"name": "ann", "secretRef": {"name": "keyed", "key": "ann"}}]
    for manifest in (opened, keyed):
        manifest["metadata"]["labels"] = {OUTLASTS: ""}
        api.apply(manifest)

    def published() -> None:
        status = (api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {})["status"]
        assert status["fleetUrl"] == BASE, status

    eventually(published, within=SOON)
    live.wait_answer(200, URL, CHAT | {"model": f"{tag}/open"})
    live.wait_answer(200, f"{live.url('keyed')}/v1/chat/completions", CHAT, KEY)
    yield tag
    for name in ("open", "keyed"):
        api.patch(SERVICE, name, {"metadata": {"labels": {OUTLASTS: None}}}, tag)
    live.forget_services()


def _post(live: LiveFleet, path: str, text: str, *headers: str) -> tuple[int, str]:
    """Return status and text of the answer to a body as it is written."""
    given = [part for header in headers for part in ("--header", header)]
    asked = (*CURL, "--path-as-is", "--write-out", "\n%{http_code}")
    url = f"http://{ADDRESS}{path}"
    answer = live.gateways.public.network.output(*asked, "--json", text, *given, url)
    found, _, status = answer.rpartition("\n")
    return int(status), found


def test_the_model_says_which_service_answers_and_by_which_name(live: LiveFleet, services: str) -> None:
    for model, seen in (("open", SERVED["llama"]), ("open/adapter", "adapter")):
        answer = live.ask(URL, CHAT | {"model": f"{services}/{model}"})
        assert (answer.status, answer.body["model"]) == (200, seen)
    status, text = _post(live, "/v1/chat/completions?a=b", f'{{"messages": [], "model": "{services}\\/open"}}')
    assert status == 200, text


def _seen(live: LiveFleet, url: str, model: str, **body: Any) -> dict[str, set[str]]:
    """Return the names of models that each deployment's engines have seen, of some requests for one."""
    found: dict[str, set[str]] = {}
    for _ in range(24):
        answer = live.ask(url, {**CHAT, **body, "model": model})
        assert answer.status == 200, answer
        assert not [each for each in answer.body["headers"] if each.startswith("modelplane-")]
        deployment = answer.body["system_fingerprint"].partition("-")[0]
        found.setdefault(deployment, set()).add(answer.body["model"])
    return found


@pytest.mark.proves("P99")
def test_each_engine_sees_the_first_name_that_it_serves_where_a_request_names_the_service_alone(
    live: LiveFleet, services: str
) -> None:
    live.fleet.plane.hub.api.apply(model_service("mixed", services, dict.fromkeys(SERVED, 1)))
    live.wait_chat(live.url("mixed"))
    own, short = {name: {model} for name, model in SERVED.items()}, f"{services}/mixed"
    eventually(lambda: _assert_seen(live, URL, short, own), within=SOON)
    _assert_seen(live, URL, f"{short}/adapter", {name: {"adapter"} for name in SERVED})
    assert live.ask(f"{live.url('mixed')}/v1/chat/completions", CHAT | {"model": short}).status == 404
    streamed = live.ask(URL, CHAT | {"model": short, "stream": True}).text
    assert json.loads(streamed.partition("\n")[0].removeprefix("data: "))["model"] in SERVED.values()
    assert streamed.rstrip().endswith("[DONE]")


def _assert_seen(live: LiveFleet, url: str, model: str, expected: dict[str, set[str]]) -> None:
    assert _seen(live, url, model) == expected


@pytest.mark.usefixtures("quiet_provider")
def test_a_provider_sees_its_own_name_of_the_model_or_that_of_the_service(live: LiveFleet, services: str) -> None:
    for name, own in (("renamed", {"model": "another/model"}), ("as-asked", {})):
        write_endpoint(live, name, **own)
        serve_endpoint(live, name)
        live.wait_answer(200, URL, CHAT | {"model": f"{services}/{name}"})
        answer = live.ask(URL, CHAT | {"model": f"{services}/{name}"})
        assert answer.body["model"] == own.get("model", f"{services}/{name}")
        assert not [each for each in answer.body["headers"] if each.startswith("modelplane-")]
        live.fleet.plane.hub.api.delete(ENDPOINT, name, services)


def test_a_key_holds_on_both_urls_and_reaches_no_engine(live: LiveFleet, services: str) -> None:
    keyed = CHAT | {"model": f"{services}/keyed/example/model"}
    refused = live.ask(URL, keyed)
    assert (refused.status, refused.code) == (401, "invalid_api_key")
    assert live.ask(URL, keyed, "Authorization: Bearer key-of-eve").status == 401
    answer = live.ask(URL, keyed, KEY)
    assert answer.status == 200
    assert "key-of-ann" not in answer.text
    assert not {"authorization", "x-api-key", "x-modelplane-caller"} & answer.body["headers"].keys()


def _is_no_model(status: int, text: str) -> bool:
    return (status, json.loads(text)["error"]["code"]) == (400, "model_required")


def test_a_body_that_does_not_name_one_model_is_refused(live: LiveFleet, services: str) -> None:
    own, other = f'"model": "{services}/open"', f'"model": "{services}/keyed"'
    for text in (
        f"{{{own}, {other}}}",
        f'{{"messages": [{{{own}}}]}}',
        f'{{"mod\\u0065l": "{services}/open"}}',
        f'{{{own}, "mod\\u0065l": "{services}/keyed"}}',
        f"{{{own}}} {{{other}}}",
        f"[{{{own}}}]",
        '{"model": 7}',
        '{"model": ["a"]}',
        "no JSON",
        f"{{{own}",
    ):
        assert _is_no_model(*_post(live, "/v1/chat/completions", text)), text
    assert live.ask(URL).code == "model_required"


def test_a_model_within_a_text_or_an_object_diverts_nothing(live: LiveFleet, services: str) -> None:
    nested = {"tools": [{"model": f"{services}/keyed"}], "metadata": {"model": f"{services}/keyed"}}
    quoted = [{"role": "user", "content": f'\\", "model": "{services}/keyed", {{[ \\\\'}]
    for body in (nested, {"messages": quoted}, {"model ": f"{services}/keyed"}):
        whole = {"messages": CHAT["messages"], **body}
        first, last = {"model": f"{services}/open", **whole}, {**whole, "model": f"{services}/open"}
        for each in (first, last):
            assert live.ask(URL, each).status == 200, each


def test_paths_that_are_forged_ask_for_a_key_too(live: LiveFleet, services: str) -> None:
    body = json.dumps(CHAT | {"model": f"{services}/open"})
    for path in (
        f"/v1/~/{services}/keyed/chat/completions",
        f"/v1/~/~/{services}/keyed/chat/completions",
        f"/v1/~/{services}/keyed",
        f"/v1/x/../~/{services}/keyed/chat/completions",
        f"/v1/%7E/{services}/keyed/chat/completions",
        f"//v1//~//{services}/keyed/chat/completions",
        f"/v1/~/{services}/open/../keyed/v1/chat/completions",
    ):
        status, text = _post(live, path, body)
        assert status in {401, 404}, (path, text)
        assert "system_fingerprint" not in text
    assert _post(live, f"/v1/~/{services}/keyed/chat/completions", body)[0] == 401


def test_what_there_is_no_service_for_is_answered_and_never_sent_round_again(live: LiveFleet, services: str) -> None:
    for model, code in (
        (f"{services}/none", "model_not_found"),
        ("none", "model_not_found"),
        ("gpt-4/Turbo", "model_not_found"),
        ("v1/chat", "model_not_found"),
        ("../open", "model_not_found"),
        (f"{services}/open%2f..", "model_not_found"),
    ):
        answer = live.ask(URL, CHAT | {"model": model})
        assert (answer.status, answer.code) == (404, code), model
    body = json.dumps(CHAT | {"model": "v1/chat"})
    for path in (
        "/v1",
        "/v1/",
        "/v1/~",
        "/v1/~/",
        "/v1/~/v1",
        "/v1/~/v1/chat",
        "/v1/~/v1/v1/v1/v1",
        f"/v1/~/v1{'/~' * 99}",
    ):
        status, text = _post(live, path, body)
        assert status == 404, (path, text)


def test_what_is_too_large_or_has_no_length_is_refused(live: LiveFleet, services: str, tmp_path: Path) -> None:
    def send(size: int, *headers: str) -> tuple[int, str]:
        file = tmp_path / "body.json"
        text = f'{{"model": "{services}/open", "messages": [], "user": "'
        file.write_text(f'{text}{"a" * (size - len(text) - 2)}"}}')
        return _post(live, "/v1/chat/completions", f"@{file}", *headers)

    # Envoy answers before it has read it all, and then closes the connection, which curl may find first.
    status, text = eventually(partial(send, LIMIT + 1), within=SOON)
    assert (status, json.loads(text)["error"]["code"]) == (413, "request_too_large")
    status, text = eventually(partial(send, LIMIT, "Transfer-Encoding: chunked"), within=SOON)
    assert (status, json.loads(text)["error"]["code"]) == (411, "length_required")
    status, text = send(LIMIT)
    assert status == 200, text[:200]
    assert json.loads(text)["model"] == SERVED["llama"]


def test_services_without_keys_are_listed_as_models_and_each_can_be_read(live: LiveFleet, services: str) -> None:
    def complete() -> None:
        answer = live.ask(f"{BASE}/models")
        assert answer.status == 200
        found: list[dict[str, Any]] = answer.body["data"]
        listed = {each["id"] for each in found} - {f"{services}/{QUIET}"}
        assert listed == {f"{services}/open"}, found

    eventually(complete, within=SOON)
    one = f"{services}/open"
    names = {one: one, f"{services}/keyed": "404 model_not_found", "gpt-4": "404 model_not_found"}
    assert live.read_models(BASE, "no-key", *names) == names
    assert live.ask(f"{BASE}/models/{one}").body in live.ask(f"{BASE}/models").body["data"]
    head = (*CURL, "--head", "--write-out", "%{http_code}", "--output", "/dev/null")
    for path, status in (("", "200"), (f"/{one}", "405")):
        assert live.gateways.public.network.output(*head, f"{BASE}/models{path}") == status


def test_the_log_says_of_the_second_pass_which_service_it_was_for(live: LiveFleet, services: str) -> None:
    live.ask(f"{URL}?hidden", CHAT | {"model": f"{services}/keyed"}, KEY)

    def logged() -> None:
        lines = live.gateways.public.access_log()
        named = [each for each in lines if each["service"] == f"{services}/keyed" and each["caller"] == "ann"]
        assert any(each["path"] == "/v1/chat/completions" and each["status"] == 200 for each in named)

    eventually(logged, within=SOON)


def test_the_page_on_the_fleet_url_calls_a_service_and_lists_it(live: LiveFleet, tmp_path: Path) -> None:
    live.fleet.plane.hub.api.apply(model_service("chat", live.fleet.tag, {"llama": 1}))
    call, by_header, names, models = open_page(live, "use-one-url", tmp_path)
    address = "fleet=$(kubectl get inferencegateway default -o jsonpath='{.status.fleetUrl}')\n"
    live.wait_chat(live.url("chat"))
    live.wait_answer(200, URL, CHAT | {"model": f"{live.fleet.tag}/chat/example/model"})
    printed = live.shell(call.replace('"ml/', f'"{live.fleet.tag}/'), tmp_path)
    assert json.loads(printed.splitlines()[-1])["model"] == "example/model"
    assert "example/model" in live.shell(address + by_header.replace("ml/", f"{live.fleet.tag}/"), tmp_path)
    listed = dict(line.split() for line in live.shell(names, tmp_path).splitlines()[1:])
    assert {listed[each["metadata"]["name"]] for each in live.fleet.endpoints("canary")} == {SERVED["canary"]}
    eventually(lambda: _assert_listed(live, address + models, tmp_path), within=SOON)


def _assert_listed(live: LiveFleet, script: str, directory: Path) -> None:
    assert f"{live.fleet.tag}/chat" in live.shell(script, directory)
