"""What the router to external providers reaches of its own pod, on real gateways, whatever the name."""

from collections.abc import Iterator

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from gateways.streams import write_endpoint
from modelplane.model.names import API_VERSION, INFERENCE_GATEWAY
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.live import ENDPOINT_HOSTS, INFERENCE_GATEWAY_KIND, LOOPBACK_NAME
from modelplane_dev.plane.waiting import eventually

#: A port at which a pod of Envoy Gateway listens otherwise. Of the others some are taken here by the public gateway and
#: the controllers, which share the network with the router.
PORT = 19002
READINESS = 19003


def test_the_routers_pod_listens_on_its_listener_and_a_readiness_path_alone(live: LiveFleet) -> None:
    public = live.gateways.public
    listeners = public.router_listeners()
    assert len(listeners) == 2
    assert set(listeners.values()) == public.listening_ports(public.router)
    (other,) = set(listeners.values()) - {READINESS}
    container, *more = public.containers("provider-router")
    assert (container["name"], more) == ("envoy", [])
    assert {each["containerPort"] for each in container["ports"]} == {READINESS}
    assert other not in {19000, 19001, 19002}
    assert container["lifecycle"] == {"preStop": {"sleep": {"seconds": 3600}}}


@pytest.fixture
def looped_back(live: LiveFleet) -> Iterator[LiveFleet]:
    """Let endpoints name the loopback address by a name, at a port of an Envoy pod, and serve one."""
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    hosts = [*ENDPOINT_HOSTS, f"{tag}/{LOOPBACK_NAME}:{PORT}"]
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": hosts}})
    write_endpoint(live, "own", url=f"http://{LOOPBACK_NAME}:{PORT}/config_dump")
    manifest = model_service("own", tag, {})
    manifest["spec"]["endpoints"] = [{"selector": {"matchLabels": {"example.com/provider": "own"}}}]
    api.apply(manifest)
    yield live
    live.forget_services()
    api.delete(ENDPOINT, "own", tag)
    api.patch(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY, {"spec": {"endpointHosts": [*ENDPOINT_HOSTS]}})


def test_a_name_of_the_loopback_address_leads_to_no_administration_of_the_router(looped_back: LiveFleet) -> None:
    url = f"{looped_back.url('own')}/v1"
    looped_back.wait_answer(503, url)
    assert looped_back.ask(url).code == "unavailable"


def test_a_port_that_nobody_has_opened_is_refused(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "closed", "namespace": tag}
    body = {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata}
    api.apply({**body, "spec": {"url": f"http://{LOOPBACK_NAME}:19000"}})
    try:
        eventually(lambda: _assert_refused(live), within=SOON)
    finally:
        api.delete(ENDPOINT, "closed", tag)


def _assert_refused(live: LiveFleet) -> None:
    found = live.fleet.plane.hub.api.get(ENDPOINT, "closed", live.fleet.tag) or {}
    live.fleet.assert_condition(found, "RoutingReady", "False", "InvalidHost")
