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
from modelplane_dev.plane.issuer import FakeIssuer, fake_issuer

INFERENCE_GATEWAY_KIND = Kind(API_VERSION, "InferenceGateway")
#: The public gateway's address, in the gateways' networks.
ADDRESS = "203.0.113.99"


def inference_gateway() -> Manifest:
    """Return the InferenceGateway."""
    metadata = {"name": INFERENCE_GATEWAY}
    return {"apiVersion": API_VERSION, "kind": INFERENCE_GATEWAY_KIND.kind, "metadata": metadata, "spec": {}}


@dataclass(frozen=True, slots=True)
class LiveGateways:
    """The gateway of the control cluster, and those of the sites by their names, which listen at `addresses`."""

    public: Gateways
    sites: Mapping[str, Gateways]
    addresses: Mapping[str, str]
    issuer: FakeIssuer

    def open_sites(self) -> None:
        """Run the sites' gateways, once there is an InferenceCluster of each that has composed it."""
        for name, site in self.sites.items():
            site.open(CLUSTER_GATEWAY, self.addresses[name])

    def open_public(self) -> None:
        """Run the public gateway; from then on it knows the names of the clusters that have one by now."""
        self.public.open(PUBLIC_GATEWAY, ADDRESS)


@contextmanager
def _real_gateway(site: InferenceSite, name: str, public: Gateways, number: int) -> Iterator[tuple[Gateways, str]]:
    """Run the controller of a site, linked with the public one; the fake Gateway is back afterwards."""
    api = site.cluster.api
    fake = (api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) or {})["status"]["addresses"][0]["value"]
    api.delete(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE)
    try:
        with gateways(site.cluster, name) as running:
            _, address = public.network.link(running.network, number)
            yield running, address
    finally:
        play_gateway(site.cluster, fake)


@contextmanager
def live_gateways(plane: ControlPlane, names: Sequence[str]) -> Iterator[LiveGateways]:
    """Run the controllers of the public gateway and of those of sites, and what issues their certificates."""
    with ExitStack() as stack:
        issuer = stack.enter_context(fake_issuer(plane.hub))
        public = stack.enter_context(gateways(plane.hub, "public"))
        sites = {
            name: stack.enter_context(_real_gateway(plane.sites[name], name, public, number))
            for number, name in enumerate(names, 1)
        }
        plane.hub.api.apply(inference_gateway())
        running = {name: site for name, (site, _) in sites.items()}
        yield LiveGateways(public, running, {name: address for name, (_, address) in sites.items()}, issuer)
