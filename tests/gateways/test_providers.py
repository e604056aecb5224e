"""External providers over the router, on real gateways: what reaches them, and when."""

import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e import scenes
from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT, in_time, lost
from gateways.live import STAYS, LiveFleet
from gateways.live_pages import open_page
from gateways.openai_calls import LONG
from gateways.pods import not_ready
from gateways.providers import PROVIDER, Providers, entry
from modelplane.compose_cluster.gateway import pair_name
from modelplane.model.names import (
    AUTHORITY,
    CLIENT_PAIR,
    INFERENCE_GATEWAY,
    LABEL_DEPLOYMENT,
    ROUTER_PAIR,
    SYSTEM_NAMESPACE,
    endpoint_hostname,
)
from modelplane_dev.plane.control_plane import DEPLOYMENT, ENDPOINT
from modelplane_dev.plane.gateways.live import ENDPOINT_HOSTS, INFERENCE_GATEWAY_KIND, PROVIDER_ADDRESS
from modelplane_dev.plane.gateways.provider import HTTP_PORT
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

HOST, OTHER_HOST = "api.provider.example", "other.provider.example"
MODEL = "vendor/model:large"
KEY = "sk-of-the-provider"
OWN = entry({LABEL_DEPLOYMENT: "llama"})
REQUESTS_SENT = 400
#: The share of requests that spill to the fallback tier while one endpoint of two is out, and of how many: where 0.3 of
#: them do, more than that spill by chance once in a million runs.
SPILL, SPILLING = 0.35, 2000
#: Seconds until a service has taken out an endpoint whose replica is not ready: 9 on a busy machine of two cores.
TAKEN_OUT = 15.0


@pytest.fixture(scope="session")
def fake(fleet_with_gateways: LiveFleet, tmp_path_factory: pytest.TempPathFactory) -> Providers:
    """Run the fake of all providers."""
    folder = tmp_path_factory.mktemp("providers")
    fleet_with_gateways.gateways.run_providers(folder)
    return Providers(fleet_with_gateways, folder)


@pytest.fixture
def providers(live: LiveFleet, fake: Providers) -> Iterator[Providers]:
    """Give a test the fake; the endpoints that it makes are gone afterwards."""
    yield fake
    live.forget_services()
    fake.forget()


def vendor(providers: Providers) -> dict[str, Any]:
    """Route to a provider by plain HTTP; return the entry that selects it."""
    providers.write_secret("vendor", token=KEY)
    return providers.route_to(
        "vendor",
        url=f"http://{HOST}:{HTTP_PORT}/openai/v1",
        credential={"secretRef": {"name": "vendor", "key": "token"}},
        headers={"x-vendor-version": "2"},
        model=MODEL,
    )


@pytest.mark.proves("P96")
def test_a_provider_gets_its_own_credential_and_model_and_nothing_of_the_caller(
    live: LiveFleet, providers: Providers
) -> None:
    url = providers.serve("vendor", vendor(providers))
    caller = (
        "Authorization: Bearer of-the-caller",
        *(f"{name}: of-the-caller" for name in ("x-api-key", "api-key", "cookie", "x-modelplane-caller")),
    )
    addresses = ("x-forwarded-for: 198.51.100.7", "x-envoy-external-address: 198.51.100.7", "x-gateway-y: z")
    answer = live.ask(f"{url}/v1/chat/completions", CHAT, *caller, *addresses)
    assert answer.status == 200
    assert answer.body["system_fingerprint"] == HOST
    reached = providers.reached(HOST)[-1]
    assert (reached["path"], reached["model"]) == ("/openai/v1/chat/completions", MODEL)
    headers = reached["headers"]
    assert (headers["authorization"], headers["x-vendor-version"]) == (f"Bearer {KEY}", "2")
    assert "of-the-caller" not in str(reached)
    ours = ("x-forwarded-", "x-modelplane-", "x-envoy-", "x-gateway-", "x-api-key", "x-request-id")
    assert [name for name in headers if name.startswith(ours)] == []
    stream = live.ask(f"{url}/v1/chat/completions", CHAT | {"stream": True})
    assert [line for line in stream.text.splitlines() if line][-1] == "data: [DONE]"


def test_a_large_request_keeps_all_but_the_name_of_the_model(live: LiveFleet, providers: Providers) -> None:
    url = providers.serve("vendor", vendor(providers))
    found = live.call_by_openai(f"{url}/v1", "of-the-caller")
    reached = providers.reached(HOST)
    assert found["long"] == LONG
    assert {each["model"] for each in reached if each["path"] != "/openai/v1/models"} == {MODEL}
    assert "of-the-caller" not in str(reached)


def test_only_the_api_of_a_provider_can_be_called(live: LiveFleet, providers: Providers) -> None:
    url = providers.serve("vendor", vendor(providers))
    before = len(providers.reached(HOST))
    for path in ("/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/admin", "/v1/..%2fadmin", "/v1/..%2f..%2fadmin"):
        assert live.ask(f"{url}{path}", {}).status in {307, 404}, path
    assert len(providers.reached(HOST)) == before


def test_a_stranger_at_the_router_gets_nothing(live: LiveFleet, providers: Providers) -> None:
    vendor(providers)
    host = endpoint_hostname("vendor", live.fleet.tag)
    live.wait_router(host)
    before = len(providers.reached(HOST))
    for pair in (None, ROUTER_PAIR, pair_name(f"{live.fleet.tag}-north")):
        answer = live.ask_router(host, pair)
        assert answer.refused, answer
    answer = live.ask_router("gone.x.endpoints.modelplane.internal", CLIENT_PAIR)
    assert (answer.status, answer.code) == (503, "unavailable")
    assert len(providers.reached(HOST)) == before


@pytest.mark.proves("P98")
def test_a_fallback_gets_no_requests_while_the_first_tier_is_healthy_and_all_when_it_is_not(
    live: LiveFleet, providers: Providers, engines: dict[str, Process]
) -> None:
    url = providers.serve("tiered", OWN, vendor(providers) | {"priority": 1})
    before = len(providers.reached(HOST))
    counts = live.send_many(url, REQUESTS_SENT)
    assert (lost(counts), len(providers.reached(HOST)) - before) == ({}, 0), counts
    for engine in engines.values():
        engine.stop()
    live.wait_chat(url)
    counts = live.send_many(url, REQUESTS_SENT)
    assert (lost(counts), counts[HOST]) == ({}, REQUESTS_SENT), counts


@pytest.fixture
def copied(live: LiveFleet) -> Iterator[str]:
    """Return the name of a deployment whose only replica has two copies."""
    selector, name = {"matchLabels": {"scenario": live.fleet.tag}}, "copied"
    live.fleet.deploy(name, engines=[scenes.engine(1, copies=2)], clusterSelector=selector, tolerations=[STAYS])
    live.fleet.wait_ready(name)
    yield name
    live.fleet.plane.hub.api.delete(DEPLOYMENT, name, live.fleet.tag)
    eventually(lambda: live.assert_gone(name), within=SOON)


@pytest.mark.proves("P32", "P97")
def test_a_killed_copy_loses_no_request_and_sends_none_to_the_fallback(
    live: LiveFleet, providers: Providers, copied: str, engines: dict[str, Process]
) -> None:
    url = providers.serve(copied, entry({LABEL_DEPLOYMENT: copied}), vendor(providers) | {"priority": 1})
    dying, left = sorted(name for name in engines if name.startswith(f"{copied}-"))
    before, after = live.send_around(engines[dying].kill, url, REQUESTS_SENT, first=REQUESTS_SENT)
    assert before[dying] > 0, before
    with not_ready(live, dying):

        def partly() -> None:
            status = live.fleet.replica(copied)["status"]
            assert (status["complete"], live.fleet.counts(copied)) == (False, (1, 1)), status

        eventually(partly, within=SOON)
        counts = live.send_many(url, REQUESTS_SENT)
    assert [lost(each) for each in (before, after, counts)] == [{}, {}, {}], (before, after, counts)
    assert [each[HOST] for each in (before, after, counts)] == [0, 0, 0], (before, after, counts)
    assert counts[left] == REQUESTS_SENT, counts


def test_one_lost_endpoint_of_two_spills_a_third_until_its_service_has_taken_it_out(
    live: LiveFleet, providers: Providers, engines: dict[str, Process]
) -> None:
    url = providers.serve("spilling", OWN, vendor(providers) | {"priority": 1})
    dying, *_ = sorted(name for name in engines if name.startswith("llama-"))
    engines[dying].kill()
    live.send_many(url, 80)  # until the gateway has noticed
    counts = live.send_many(url, SPILLING)
    spilled = counts[HOST] / SPILLING
    assert (lost(counts), dying in counts) == ({}, False), counts

    def all_in() -> None:
        eventually(lambda: live.assert_endpoints("spilling", 3), within=SOON)

    def take_out() -> float:
        with not_ready(live, dying):
            started = time.monotonic()
            eventually(lambda: live.assert_endpoints("spilling", 2), within=SOON)
            seconds = time.monotonic() - started
            _assert_nothing_spills(live, url, REQUESTS_SENT)
        return seconds

    seconds = in_time(take_out, TAKEN_OUT, all_in)
    live.fleet.figures.append(
        f"one endpoint of two lost: {spilled:.1%} of {SPILLING} requests to the fallback tier, "
        f"none once its service has taken it out, {seconds:.1f} s after its pod was not ready"
    )
    assert 0 < spilled <= SPILL
    assert seconds < TAKEN_OUT


def _assert_nothing_spills(live: LiveFleet, url: str, requests: int) -> None:
    counts = live.send_many(url, requests)
    assert (lost(counts), counts[HOST]) == ({}, 0), counts


@pytest.mark.proves("P102")
@pytest.mark.usefixtures("engines")
def test_a_request_that_a_provider_refuses_with_429_is_answered_by_another_endpoint(
    live: LiveFleet, providers: Providers
) -> None:
    url = providers.serve("refused", OWN, vendor(providers))
    before = len(providers.reached(HOST))
    providers.answer_with(HOST, 429)
    try:
        counts = live.send_many(url, REQUESTS_SENT)
    finally:
        providers.answer_with(HOST, 200)
    assert len(providers.reached(HOST)) > before
    assert (lost(counts), counts[HOST]) == ({}, 0), counts


def test_the_only_endpoint_is_not_called_again_after_401_and_429_and_once_after_503(
    live: LiveFleet, providers: Providers
) -> None:
    url = providers.serve("alone", vendor(providers))
    for status, seen, tries in ((401, 502, 1), (429, 429, 1), (503, 503, 2)):
        before = len(providers.reached(HOST))
        providers.answer_with(HOST, status)
        try:
            assert live.ask(f"{url}/v1/chat/completions", CHAT).status == seen
        finally:
            providers.answer_with(HOST, 200)
        assert len(providers.reached(HOST)) - before == tries, status


def test_a_provider_s_401_to_one_caller_sends_no_other_to_the_fallback(live: LiveFleet, providers: Providers) -> None:
    other = providers.route_to("other", url=f"https://{OTHER_HOST}")
    url = providers.serve("scopes", vendor(providers), other | {"priority": 1})
    providers.answer_with(HOST, 401)
    try:
        for _ in range(10):
            live.ask(f"{url}/v1/chat/completions", CHAT)
    finally:
        providers.answer_with(HOST, 200)
    before = len(providers.reached(OTHER_HOST))
    counts = live.send_many(url, 40)
    assert (lost(counts), len(providers.reached(OTHER_HOST)) - before) == ({}, 0), counts
    route = live.observed("scopes").route["metadata"]["name"]
    assert live.gateways.public.statistic(route, "outlier_detection.ejections_active") == 0


@pytest.mark.usefixtures("engines")
def test_what_an_engine_cannot_do_for_one_caller_sends_no_other_to_the_fallback(
    live: LiveFleet, providers: Providers
) -> None:
    url = providers.serve("unbroken", OWN, vendor(providers) | {"priority": 1})
    before = len(providers.reached(HOST))
    for status in (500, 501):
        for _ in range(12):
            assert live.ask(f"{url}/v1/chat/completions", CHAT, f"X-Status: {status}").status == status
        counts = live.send_many(url, 40)
        assert (lost(counts), len(providers.reached(HOST)) - before) == ({}, 0), counts


@pytest.mark.usefixtures("engines")
def test_a_provider_that_refuses_its_credential_or_is_overloaded_is_not_the_caller_s_mistake(
    live: LiveFleet, providers: Providers
) -> None:
    alone = providers.serve("mistaken", vendor(providers))
    beside = providers.serve("mistaken-beside", OWN, entry({PROVIDER: "vendor"}))
    for status, seen, code in ((401, 502, "provider_unauthorized"), (529, 503, "told")):
        providers.answer_with(HOST, status)
        try:
            answer = live.ask(f"{alone}/v1/chat/completions", CHAT)
            counts = live.send_many(beside, 40)
        finally:
            providers.answer_with(HOST, 200)
        assert (answer.status, answer.code) == (seen, code)
        assert lost(counts) == {}, counts


def test_a_provider_is_the_fallback_of_another_behind_the_same_router_and_takes_over_when_that_is_deleted(
    live: LiveFleet, providers: Providers
) -> None:
    other = providers.route_to("other", url=f"https://{OTHER_HOST}")
    url = providers.serve("providers", vendor(providers), other | {"priority": 1})
    counts = live.send_many(url, REQUESTS_SENT)
    assert (lost(counts), counts[HOST]) == ({}, REQUESTS_SENT), counts
    providers.answer_with(HOST, 503)
    try:
        live.wait_chat(url)
        counts = live.send_many(url, REQUESTS_SENT)
    finally:
        providers.answer_with(HOST, 200)
    assert (lost(counts), counts[OTHER_HOST]) == ({}, REQUESTS_SENT), counts
    assert "authorization" not in str(providers.reached(OTHER_HOST))
    with live.watched(url) as seen:
        live.fleet.plane.hub.api.delete(ENDPOINT, "vendor", live.fleet.tag)
        eventually(lambda: live.assert_endpoints("providers", 1), within=SOON)
    assert {status for status, _ in seen} == {200}, f"while the endpoint of the first tier was deleted: {seen}"


def test_a_provider_whose_certificate_another_ca_has_signed_gets_nothing(live: LiveFleet, providers: Providers) -> None:
    found = live.fleet.plane.hub.api.get(SECRET, AUTHORITY, SYSTEM_NAMESPACE) or {}
    providers.write_secret("stranger", ca=b64decode(found["data"]["tls.crt"]).decode())
    strange = providers.route_to(
        "strange", url=f"https://{OTHER_HOST}", tls={"caSecretRef": {"name": "stranger", "key": "ca"}}
    )
    before = len(providers.reached(OTHER_HOST))
    url = providers.serve("strange", strange, status=503)
    assert live.ask(f"{url}/v1/chat/completions", CHAT).code == "unavailable"
    assert len(providers.reached(OTHER_HOST)) == before


#: Of the endpoints of the page: the host, and path, header and value of what reaches it, and the model.
ON_THE_PAGE = {
    "groq": ("api.groq.com", "/openai/v1", "authorization", "Bearer gsk-1", "llama-3.3-70b-versatile"),
    "openai": ("api.openai.com", "/v1", "authorization", "Bearer sk-1", "gpt-5-mini"),
    "anthropic": ("api.anthropic.com", "/v1", "authorization", "Bearer sk-ant-1", "claude-sonnet-4-5"),
    "server": ("llm.example.com", "/api/v1", "x-api-key", "secret-1", "example/model"),
}


@pytest.mark.usefixtures("engines")
def test_the_page_on_providers_leads_to_each_of_them(live: LiveFleet, providers: Providers, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(providers.certificate)
    live.fleet.plane.hub.api.apply(model_service("chat", live.fleet.tag, {"llama": 1}))
    for script in open_page(live, "use-a-provider", tmp_path):
        live.shell(script, tmp_path)
    hosts = {"spec": {"endpointHosts": [*ENDPOINT_HOSTS]}}
    live.fleet.plane.hub.api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, hosts)
    live.wait_chat(live.url("chat"))
    for name, (host, root, header, value, model) in ON_THE_PAGE.items():
        providers.serve(f"page-{name}", entry({PROVIDER: name}))
        reached = providers.reached(host)[-1]
        assert (reached["path"], reached["model"]) == (f"{root}/chat/completions", model)
        assert reached["headers"][header] == value
    assert providers.reached("llm.example.com")[-1]["headers"]["x-team"] == "search"


def test_an_address_is_refused_until_the_gateway_allows_it(live: LiveFleet, providers: Providers) -> None:
    api = live.fleet.plane.hub.api
    providers.write_endpoint("inside", url=f"http://{PROVIDER_ADDRESS}:{HTTP_PORT}", host="inside.example.com")
    eventually(lambda: providers.assert_routing("inside", "False", "InvalidHost"), within=SOON)
    api.patch(
        INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": [*ENDPOINT_HOSTS, PROVIDER_ADDRESS]}}
    )
    try:
        eventually(lambda: providers.assert_routing("inside"), within=SOON)
        providers.serve("inside", entry({PROVIDER: "inside"}))
        assert providers.reached("inside.example.com")
    finally:
        api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": [*ENDPOINT_HOSTS]}})
