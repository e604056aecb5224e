"""What the router to external providers reaches of its own pod, on real gateways, whatever the name."""

from collections.abc import Iterator
from functools import partial

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from gateways.streams import write_endpoint
from modelplane.model.names import API_VERSION, INFERENCE_GATEWAY
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import ENDPOINT_HOSTS, INFERENCE_GATEWAY_KIND, LOOPBACK_NAME
from modelplane_dev.plane.waiting import eventually

#: Ports of an Envoy pod of Envoy Gateway: administration, statistics, the shutdown manager.
PORTS = (19000, 19001, 19002)
READINESS = 19003


def test_the_routers_pod_listens_on_its_listener_and_a_readiness_path_alone(live: LiveFleet) -> None:
    public = live.gateways.public
    listeners = public.router_listeners()
    assert len(listeners) == 2
    assert set(listeners.values()) == public.listening_ports(public.router)
    (other,) = set(listeners.values()) - {READINESS}
    container, *more = public.containers("provider-router")
    assert (container["name"], more) == ("envoy", [])
    assert {each["containerPort"] for each in container["ports"]} == {other, READINESS}
    assert container["lifecycle"] == {"preStop": {"sleep": {"seconds": 3600}}}


@pytest.fixture
def looped_back(live: LiveFleet) -> Iterator[LiveFleet]:
    """Let endpoints name the loopback address by a name, at the ports of an Envoy pod, and serve one for each."""
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    hosts = [*ENDPOINT_HOSTS, *(f"{tag}/{LOOPBACK_NAME}:{port}" for port in PORTS)]
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": hosts}})
    for port in PORTS:
        write_endpoint(live, f"own-{port}", url=f"http://{LOOPBACK_NAME}:{port}/config_dump")
        manifest = model_service(f"own-{port}", tag, {})
        manifest["spec"]["endpoints"] = [{"selector": {"matchLabels": {"example.com/provider": f"own-{port}"}}}]
        api.apply(manifest)
    yield live
    live.forget_services()
    for port in PORTS:
        api.delete(ENDPOINT, f"own-{port}", tag)
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": [*ENDPOINT_HOSTS]}})


def test_a_name_of_the_loopback_address_leads_to_no_administration_of_the_router(looped_back: LiveFleet) -> None:
    # In a pod of its own none of these ports is open. Here the public gateway's Envoy and controllers share the network
    # with the router: what they answer is not the router's.
    for port in PORTS:
        url = f"{looped_back.url(f'own-{port}')}/v1"
        eventually(partial(_assert_routed, looped_back, url), within=SOON)
        answer = looped_back.ask(url)
        assert "endpoints.modelplane.internal" not in answer.text, port


def _assert_routed(live: LiveFleet, url: str) -> None:
    assert live.ask(url).status != 404


def test_a_port_that_nobody_has_opened_is_refused(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "closed", "namespace": tag}
    body = {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata}
    api.apply({**body, "spec": {"url": f"http://{LOOPBACK_NAME}:{PORTS[0]}"}})
    try:
        eventually(lambda: _assert_refused(live), within=SOON)
    finally:
        api.delete(ENDPOINT, "closed", tag)


def _assert_refused(live: LiveFleet) -> None:
    found = live.fleet.plane.hub.api.get(ENDPOINT, "closed", live.fleet.tag) or {}
    live.fleet.assert_condition(found, "RoutingReady", "False", "InvalidHost")
