"""Real gateways for a control plane: that of the control cluster, and those of some of its sites."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from modelplane.model.names import (
    API_VERSION,
    CLUSTER_GATEWAY,
    ENGINE_PORT,
    ENVOY_NAMESPACE,
    INFERENCE_GATEWAY,
    PUBLIC_GATEWAY,
    ROUTER,
    SYSTEM_NAMESPACE,
)
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.control_plane import ControlPlane
from modelplane_dev.plane.envoy_gateway import GATEWAY, establish_kinds
from modelplane_dev.plane.gateways import provider
from modelplane_dev.plane.gateways.controller import Gateways, gateways
from modelplane_dev.plane.inference import InferenceSite
from modelplane_dev.plane.issuer import FakeIssuer, fake_issuer
from modelplane_dev.processes.process import Process

INFERENCE_GATEWAY_KIND = Kind(API_VERSION, "InferenceGateway")
#: The public gateway's address, in the gateways' networks.
ADDRESS = "203.0.113.99"
#: The addresses of the router and of the fake of all external providers, and the hosts of these.
ROUTER_ADDRESS, PROVIDER_ADDRESS = "203.0.113.98", "203.0.113.97"
PROVIDERS = (
    "api.provider.example",
    "other.provider.example",
    "api.groq.com",
    "api.openai.com",
    "api.anthropic.com",
    "llm.example.com",
)
#: One more provider, which no test stops.
QUIET_PROVIDER, QUIET_ADDRESS = "quiet.provider.example", "203.0.113.96"
#: Names that resolve to the router's own pod, and to the metadata of a cloud.
LOOPBACK_NAME, METADATA_NAME = "loopback.example.net", "metadata.example.net"
#: A name of the public gateway that Modelplane does not know.
GATEWAY_ALIAS = "gateway.example.net"
_NAMES = {
    LOOPBACK_NAME: "127.0.0.1",
    METADATA_NAME: "169.254.169.254",
    GATEWAY_ALIAS: ADDRESS,
    f"{PUBLIC_GATEWAY}.{ENVOY_NAMESPACE}.svc.cluster.local": ADDRESS,
    f"{ROUTER}.{ENVOY_NAMESPACE}.svc.cluster.local": ROUTER_ADDRESS,
    **dict.fromkeys(PROVIDERS, PROVIDER_ADDRESS),
    QUIET_PROVIDER: QUIET_ADDRESS,
}
#: What ModelEndpoints may name: providers at the ports of the fakes.
ENDPOINT_HOSTS = (*(f"{name}:{provider.HTTP_PORT}" for name in PROVIDERS), f"{QUIET_PROVIDER}:{ENGINE_PORT}")


def inference_gateway() -> Manifest:
    """Return the InferenceGateway."""
    metadata = {"name": INFERENCE_GATEWAY}
    spec = {"endpointHosts": [*ENDPOINT_HOSTS]}
    return {"apiVersion": API_VERSION, "kind": INFERENCE_GATEWAY_KIND.kind, "metadata": metadata, "spec": spec}


@dataclass(frozen=True, slots=True)
class LiveGateways:
    """The gateway of the control cluster, and those of the sites by their names, which listen at `addresses`."""

    public: Gateways
    sites: Mapping[str, Gateways]
    addresses: Mapping[str, str]
    issuer: FakeIssuer

    def open_sites(self) -> None:
        """Run the gateways of sites, once the InferenceCluster of each has composed it."""
        for name, site in self.sites.items():
            site.open(CLUSTER_GATEWAY, self.addresses[name])

    def open_router(self) -> None:
        """Run the router, through which requests to external providers go."""
        self.public.router = self.public.open_beside(ROUTER, ROUTER_ADDRESS)

    def run_providers(self, folder: Path) -> Process:
        """Run the fake of external providers, with its folder.

        Every program that starts in the network from now on trusts its certificate.
        """
        network = self.public.network
        network.run("provider-address", "ip", "address", "replace", f"{PROVIDER_ADDRESS}/32", "dev", "lo")
        names = ",".join(f"DNS:{name}" for name in PROVIDERS)
        pair = ("-keyout", folder / provider.KEY, "-out", folder / provider.CERTIFICATE)
        asked = ("-subj", "/CN=providers", "-addext", f"subjectAltName={names}", "-days", "2")
        network.run("provider-pair", "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *asked, *pair)
        with self.public.authorities.open("a") as authorities:
            authorities.write((folder / provider.CERTIFICATE).read_text())
        program = (sys.executable, "-m", provider.__name__)
        at = f"{PROVIDER_ADDRESS}:{provider.HTTP_PORT}"
        return self.public.run_server("providers", at, *program, PROVIDER_ADDRESS, folder)

    def run_quiet_provider(self) -> Process:
        """Run an engine as a provider that no test stops."""
        self.public.network.run("quiet-address", "ip", "address", "replace", f"{QUIET_ADDRESS}/32", "dev", "lo")
        return self.public.run_engine("quiet", QUIET_ADDRESS)

    def forward_https(self) -> None:
        """Forward HTTPS to the public gateway, once it listens for it."""
        self.public.forward_ports(PUBLIC_GATEWAY, ADDRESS, 443)

    def open_public(self) -> None:
        """Run the public gateway; from then on it knows the names of the clusters, once each site has one."""
        self.public.resolve_services(*self.addresses.values())
        self.public.open(PUBLIC_GATEWAY, ADDRESS)


@contextmanager
def _real_gateway(
    site: InferenceSite, name: str, public: Gateways, number: int, *, pools: bool
) -> Iterator[tuple[Gateways, str]]:
    """Run the controller of a site, linked with the public one, in place of the fake Gateway."""
    site.cluster.api.delete(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE)
    with gateways(site.cluster, name, pools=pools) as running:
        _, address = public.network.link(running.network, number)
        yield running, address


@contextmanager
def live_gateways(plane: ControlPlane, names: Sequence[str], *, pools: bool = False) -> Iterator[LiveGateways]:
    """Run the controllers of the public gateway and of those of sites, and what issues their certificates.

    With `pools` the sites' gateways route to InferencePools.
    """
    clusters = [plane.hub, *(plane.sites[name].cluster for name in names)]
    with ThreadPoolExecutor(len(clusters)) as pool:
        list(pool.map(establish_kinds, clusters))  # In parallel: so many kinds keep each server busy for seconds.
    with ExitStack() as stack:
        issuer = stack.enter_context(fake_issuer(plane.hub))
        public = stack.enter_context(gateways(plane.hub, "public"))
        public.names.update(_NAMES)
        sites = {
            name: stack.enter_context(_real_gateway(plane.sites[name], name, public, number, pools=pools))
            for number, name in enumerate(names, 1)
        }
        plane.hub.api.apply(inference_gateway())
        running = {name: site for name, (site, _) in sites.items()}
        yield LiveGateways(public, running, {name: address for name, (_, address) in sites.items()}, issuer)
