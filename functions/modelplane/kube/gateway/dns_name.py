"""A DNS name on the control cluster for an IP address outside it: a headless Service and its EndpointSlice.

Endpoints of a Backend are DNS names: of two that have the same IP address and port Envoy Gateway drops one.
"""

import ipaddress
from typing import Any, Final

from modelplane.model.names import SYSTEM_NAMESPACE

_PORT: Final = {"name": "https", "port": 443, "protocol": "TCP"}


def headless_service(name: str) -> dict[str, Any]:
    """Return the Service of the name; it selects no pods, so that its EndpointSlice is ours."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": SYSTEM_NAMESPACE},
        "spec": {"clusterIP": "None", "ports": [dict(_PORT)]},
    }


def address_family(address: str) -> str:
    """Return the addressType of an IP address: IPv4 or IPv6."""
    return f"IPv{ipaddress.ip_address(address).version}"


def endpoint_slice(service: str, address: str) -> dict[str, Any]:
    """Return the EndpointSlice with the address that the Service's name resolves to.

    The addressType of one that exists cannot be changed: each family has a slice of its own.
    """
    family = address_family(address)
    labels = {
        "kubernetes.io/service-name": service,
        "endpointslice.kubernetes.io/managed-by": "modelplane.ai",
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{service}-{family.lower()}", "namespace": SYSTEM_NAMESPACE, "labels": labels},
        "addressType": family,
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [dict(_PORT)],
    }
