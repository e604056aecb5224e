"""The real gateways of a whole control plane: that of the control cluster, and those of some of its sites."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from modelplane.model.names import API_VERSION, CLUSTER_GATEWAY, INFERENCE_GATEWAY, PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.envoy_gateway import GATEWAY
from modelplane_dev.plane.fakes import play_gateway
from modelplane_dev.plane.gateways.controller import Gateways, gateways
from modelplane_dev.plane.inference import InferenceSite

INFERENCE_GATEWAY_KIND = Kind(API_VERSION, "InferenceGateway")
#: The public gateway's address, in the gateways' networks.
ADDRESS = "203.0.113.99"
_CLASS = {
    "apiVersion": GATEWAY.api_version,
    "kind": "GatewayClass",
    "metadata": {"name": "envoy"},
    "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
}


def inference_gateway() -> Manifest:
    """Return the InferenceGateway."""
    metadata = {"name": INFERENCE_GATEWAY}
    return {"apiVersion": API_VERSION, "kind": INFERENCE_GATEWAY_KIND.kind, "metadata": metadata, "spec": {}}


def _site_gateway() -> Manifest:
    """Return the Gateway of an inference cluster, as an operator makes it."""
    listener = {"name": "http", "port": 443, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    return {
        "apiVersion": GATEWAY.api_version,
        "kind": GATEWAY.kind,
        "metadata": {"name": CLUSTER_GATEWAY, "namespace": SYSTEM_NAMESPACE},
        "spec": {"gatewayClassName": "envoy", "listeners": [listener]},
    }


@dataclass(frozen=True, slots=True)
class LiveGateways:
    """The gateway of the control cluster, and those of the sites by their names."""

    public: Gateways
    sites: Mapping[str, Gateways]

    def open_public(self) -> None:
        """Run the public gateway; from then on it knows the names of the clusters that have one by now."""
        self.public.open(PUBLIC_GATEWAY, ADDRESS)


@contextmanager
def _real_gateway(site: InferenceSite, name: str, public: Gateways, number: int) -> Iterator[Gateways]:
    """Run the gateway of a site, linked with the public one; the fake is back afterwards."""
    api = site.cluster.api
    fake = (api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) or {})["status"]["addresses"][0]["value"]
    try:
        with gateways(site.cluster, name) as running:
            _, address = public.network.link(running.network, number)
            api.apply(_CLASS)
            api.apply(_site_gateway())
            running.open(CLUSTER_GATEWAY, address)
            yield running
    finally:
        play_gateway(site.cluster, fake)


@contextmanager
def live_gateways(plane: ControlPlane, names: Sequence[str]) -> Iterator[LiveGateways]:
    """Run the gateways of sites, and all of the public one but its Envoy."""
    with ExitStack() as stack:
        public = stack.enter_context(gateways(plane.hub, "public"))
        sites = {
            name: stack.enter_context(_real_gateway(plane.sites[name], name, public, number))
            for number, name in enumerate(names, 1)
        }
        plane.hub.api.apply(inference_gateway())
        yield LiveGateways(public, sites)
