"""Envoy Gateway on a cluster: its kinds, and those of Gateway API, from the sources of the pinned modules."""

from modelplane_dev.components import sources
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.crossplane import crds, establish

GATEWAY = Kind("gateway.networking.k8s.io/v1", "Gateway")
ROUTE = Kind("gateway.networking.k8s.io/v1", "HTTPRoute")
SECURITY_POLICY = Kind("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
BACKEND = Kind("gateway.envoyproxy.io/v1alpha1", "Backend")


def establish_kinds(cluster: Cluster) -> None:
    """Install the CustomResourceDefinitions of Gateway API and of Envoy Gateway."""
    establish(cluster, crds(sources.gateway_crds()))
    establish(cluster, crds(sources.envoy_gateway_crds()))
