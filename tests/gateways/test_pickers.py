"""An endpoint picker that is dead, on the real gateway of a cluster.

Envoy calls a picker as an external processor (ext_proc) of a route. Here that is an address where nothing listens:
Envoy Gateway alone attaches no picker of an InferencePool.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet, lost
from modelplane.kube.gateway.kinds import envoy_object, target
from modelplane.model.names import CLIENT_PAIR
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.envoy_gateway import ROUTE
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

POLICY = Kind("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy")
SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice")
SERVICE = Kind("v1", "Service")
PORT = 9002
REQUESTS_SENT = 400


@contextmanager
def _dead_picker(live: LiveFleet, site: str, host: str) -> Iterator[None]:
    """Give the route of a replica's host a picker that takes no connection."""
    api = live.gateways.sites[site].cluster.api
    (route,) = (each["metadata"] for each in api.list(ROUTE) if host in each["spec"].get("hostnames", ()))
    namespace, name = route["namespace"], "dead-picker"
    metadata = {"name": name, "namespace": namespace}
    port = {"name": "grpc", "port": PORT, "protocol": "TCP"}
    address = POD_ADDRESSES.rpartition(".")[0] + ".253"
    service: Manifest = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [port]}}
    listed: Manifest = {
        "apiVersion": SLICE.api_version,
        "kind": SLICE.kind,
        "metadata": metadata | {"labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [port],
    }
    processor = {"backendRefs": [{"name": name, "port": PORT}], "processingMode": {"request": {}}}
    spec = {"targetRefs": [target(ROUTE.kind, route["name"])], "extProc": [processor]}
    made = {SERVICE: service, SLICE: listed, POLICY: envoy_object(POLICY.kind, name, namespace, spec)}
    for manifest in made.values():
        api.apply(manifest)
    try:
        yield
    finally:
        for kind in reversed(made):
            api.delete(kind, name, namespace)


def test_a_dead_picker_is_503_and_requests_go_to_another_endpoint(live: LiveFleet, engines: dict[str, Process]) -> None:
    live.fleet.plane.hub.api.apply(model_service("picked", live.fleet.tag, {"llama": 1}))
    url, host = live.url("picked"), live.host("llama", "west")
    live.wait_chat(url)

    def assert_status(status: int) -> None:
        answer = live.ask_site("west", host, CLIENT_PAIR)
        assert answer.status == status, answer

    eventually(lambda: assert_status(200), within=SOON)
    with _dead_picker(live, "west", host):
        eventually(lambda: assert_status(503), within=SOON)
        assert live.ask_site("west", host, CLIENT_PAIR).code == "unavailable"
        counts = live.send_many(url, REQUESTS_SENT)
        assert lost(counts) == {}, counts
        # A connection from before may have kept a listener without the picker.
        assert sum(counts[name] for name in engines if "-west-" in name) < REQUESTS_SENT / 10, counts
    eventually(lambda: assert_status(200), within=SOON)
