"""An external provider over the router, on real gateways: what reaches it, and when."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import CHAT, LiveFleet, lost
from modelplane.model.names import API_VERSION, LABEL_DEPLOYMENT
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import PROVIDER_HOST, PROVIDER_PORT
from modelplane_dev.plane.gateways.provider import KEY, MODEL, REQUESTS, ROOT, STATUS
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

EXTERNAL = {"modelplane.ai/external-provider": "vendor"}
REQUESTS_SENT = 400


@pytest.fixture(scope="module")
def provider(fleet_with_gateways: LiveFleet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the provider and route to it; return the folder of what reaches it."""
    fleet = fleet_with_gateways.fleet
    api, metadata = fleet.plane.hub.api, {"name": "vendor", "namespace": fleet.tag}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": KEY}})
    api.apply(_endpoint(fleet.tag))

    def ready() -> None:
        fleet.assert_condition(api.get(ENDPOINT, "vendor", fleet.tag) or {}, "RoutingReady")

    eventually(ready, within=SOON)
    folder = tmp_path_factory.mktemp("provider")
    fleet_with_gateways.gateways.run_provider(folder)
    return folder


def _endpoint(namespace: str) -> Manifest:
    spec = {
        "url": f"http://{PROVIDER_HOST}:{PROVIDER_PORT}{ROOT}",
        "credential": {"secretRef": {"name": "vendor", "key": "token"}},
        "headers": {"x-vendor-version": "2"},
        "model": MODEL,
    }
    metadata = {"name": "vendor", "namespace": namespace, "labels": EXTERNAL}
    return {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}


def _serve(live: LiveFleet, name: str, *entries: dict[str, Any], **spec: Any) -> str:
    manifest = model_service(name, live.fleet.tag, {})
    manifest["spec"] = {"endpoints": list(entries), **spec}
    live.fleet.plane.hub.api.apply(manifest)
    return live.url(name)


def _entry(labels: dict[str, str], priority: int = 0) -> dict[str, Any]:
    return {"priority": priority, "selector": {"matchLabels": labels}}


def _reached(folder: Path) -> list[dict[str, Any]]:
    found = folder / REQUESTS
    return [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []


OWN = {LABEL_DEPLOYMENT: "llama"}


def test_a_provider_gets_its_own_credential_and_model_and_nothing_of_the_caller(
    live: LiveFleet, provider: Path
) -> None:
    url = _serve(live, "vendor", _entry(EXTERNAL))
    chat = f"{url}/v1/chat/completions"
    caller = ("Authorization: Bearer of-the-caller", "x-api-key: of-the-caller", "x-modelplane-caller: somebody")
    live.wait_answer(200, chat, CHAT, *caller)
    answer = live.ask(chat, CHAT, *caller, "x-forwarded-for: 198.51.100.7", "x-gateway-y: z")
    assert answer.status == 200
    assert answer.body["system_fingerprint"] == "provider"
    reached = _reached(provider)[-1]
    headers = reached["headers"]
    assert (reached["path"], reached["model"]) == (f"{ROOT}/chat/completions", MODEL)
    assert headers["host"] == PROVIDER_HOST
    assert (headers["authorization"], headers["x-vendor-version"]) == (f"Bearer {KEY}", "2")
    assert "of-the-caller" not in str(reached)
    ours = ("x-forwarded-", "x-modelplane-", "x-envoy-", "x-gateway-", "x-api-key")
    assert [name for name in headers if name.startswith(ours)] == []


def test_a_paid_tier_gets_nothing_while_the_first_is_in_and_everything_when_it_is_out(
    live: LiveFleet, provider: Path, engines: dict[str, Process]
) -> None:
    url = _serve(live, "tiered", _entry(OWN), _entry(EXTERNAL, 1))
    live.wait_answer(200, f"{url}/v1/chat/completions", CHAT)
    eventually(lambda: _assert_backends(live, "tiered", 2), within=SOON)
    before = len(_reached(provider))
    counts = live.send_many(url, REQUESTS_SENT)
    assert lost(counts) == {}
    assert len(_reached(provider)) == before, counts
    for engine in engines.values():
        engine.stop()
    live.wait_answer(200, f"{url}/v1/chat/completions", CHAT)
    counts = live.send_many(url, REQUESTS_SENT)
    assert lost(counts) == {}
    assert counts["provider"] == REQUESTS_SENT


@pytest.mark.usefixtures("engines")
def test_what_a_provider_refuses_with_429_is_answered_by_another_endpoint(live: LiveFleet, provider: Path) -> None:
    url = _serve(live, "refused", _entry(OWN), _entry(EXTERNAL))
    live.wait_answer(200, f"{url}/v1/chat/completions", CHAT)
    eventually(lambda: _assert_backends(live, "refused", 2), within=SOON)
    (provider / STATUS).write_text("429")
    before = len(_reached(provider))
    try:
        counts = live.send_many(url, REQUESTS_SENT)
    finally:
        (provider / STATUS).unlink()
    assert len(_reached(provider)) > before
    assert lost(counts) == {}


def _assert_backends(live: LiveFleet, service: str, count: int) -> None:
    assert len(live.observed(service).shares()) == count
