"""Services that lead back to the gateway, on real gateways: each request is answered after one round."""

import time
from collections.abc import Iterator

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT
from gateways.live import LiveFleet
from gateways.streams import write_endpoint
from modelplane.model.names import API_VERSION
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import ADDRESS, GATEWAY_ALIAS
from modelplane_dev.plane.waiting import eventually

#: Services, and the path of the gateway to which the endpoint of each leads.
SERVICES = ("there", "back", "fleet")
#: Seconds within which a request that comes back is answered, on a busy machine.
AT_ONCE = 5.0


@pytest.fixture
def looped(live: LiveFleet) -> Iterator[LiveFleet]:
    """Make two services that lead to each other, and one that leads to itself by the fleet URL."""
    tag = live.fleet.tag
    roots = {"there": f"/{tag}/back/v1", "back": f"/{tag}/there/v1", "fleet": "/v1"}
    for name, root in roots.items():
        model = {"model": f"{tag}/fleet"} if name == "fleet" else {}
        write_endpoint(live, name, url=f"http://{GATEWAY_ALIAS}{root}", **model)
        manifest = model_service(name, tag, {})
        manifest["spec"]["endpoints"] = [{"selector": {"matchLabels": {"example.com/provider": name}}}]
        live.fleet.plane.hub.api.apply(manifest)
    for name in roots:
        live.wait_chat(live.url(name), 508)
    yield live
    live.forget_services()
    for name in roots:
        live.fleet.plane.hub.api.delete(ENDPOINT, name, tag)


@pytest.mark.parametrize("name", SERVICES)
def test_a_request_that_comes_back_is_answered_after_one_round(looped: LiveFleet, name: str) -> None:
    public = looped.gateways.public
    eventually(lambda: _assert_rest(looped), within=SOON)
    before, started = public.requests_received(), time.monotonic()
    answer = looped.ask(f"{looped.url(name)}/v1/chat/completions", CHAT)
    seconds = time.monotonic() - started
    assert (answer.status, answer.code) == (508, "loop_detected")
    assert public.requests_received() - before <= 3
    assert seconds < AT_ONCE


def _assert_rest(live: LiveFleet) -> None:
    """Assert that no request is under way."""
    before = live.gateways.public.requests_received()
    time.sleep(1)
    assert live.gateways.public.requests_received() == before


def test_an_endpoint_that_names_the_gateway_itself_is_refused(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "own", "namespace": tag}
    body = {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata}
    api.apply({**body, "spec": {"url": f"http://{ADDRESS}/{tag}/own/v1", "host": "a.example.com"}})
    try:

        def refused() -> None:
            found = api.get(ENDPOINT, "own", tag) or {}
            live.fleet.assert_condition(found, "RoutingReady", "False", "InvalidHost")
            assert f"spec.url: {ADDRESS} is the gateway itself" in str(found["status"]["conditions"])

        eventually(refused, within=SOON)
    finally:
        api.delete(ENDPOINT, "own", tag)
