"""The network of a cluster: made, with one /16 for nodes, Services and pods, or one that is there already."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final

from modelplane.clouds.cloud import Asked, Managed, Seen
from modelplane.clouds.edits import get
from modelplane.clouds.gke import kinds
from modelplane.clouds.names import Limits, private_network

#: Composition resource names.
NETWORK, SUBNETWORK = "network", "subnetwork"
#: Of Compute Engine networks and subnetworks.
_LIMITS: Final = Limits(63)
_PODS, _SERVICES = "pods", "services"
#: How many nodes the addresses for pods are enough for: each takes a /24 of the /17, with 110 pods.
MOST_NODES: Final = 128


@dataclass(frozen=True, slots=True)
class Ranges:
    """The parts of a network: for nodes, Services and pods."""

    nodes: str
    services: str
    pods: str


def ranges(network: str) -> Ranges:
    """Return the parts of a /16, which never change: the second half is for pods."""
    lower, pods = ip_network(network).subnets(prefixlen_diff=1)
    nodes, services = list(lower.subnets(new_prefix=20))[:2]
    return Ranges(str(nodes), str(services), str(pods))


def _brought(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return (settings.get("network") or {}).get("existing") or {}


def brought(asked: Asked) -> Mapping[str, Any]:
    """Return the names of a network that is there already, empty where one is made."""
    return _brought(asked.settings)


def addresses(cluster: str, settings: Mapping[str, Any]) -> str:
    """Return the network that is made, "" where one is brought."""
    if _brought(settings):
        return ""
    return str((settings.get("network") or {}).get("cidr") or private_network(cluster))


def name(asked: Asked) -> str:
    """Return the name of the network that is made, and of its subnetwork."""
    return _LIMITS.name(asked.cluster, asked.key, NETWORK)


def resources(asked: Asked, seen: Mapping[str, Seen]) -> dict[str, Managed]:
    """Return the network and its subnetwork; the addresses of one that exists stay."""
    if brought(asked):
        return {}
    parts = ranges(addresses(asked.cluster, asked.settings))
    secondary = [
        {"rangeName": _PODS, "ipCidrRange": parts.pods},
        {"rangeName": _SERVICES, "ipCidrRange": parts.services},
    ]
    subnetwork: dict[str, Any] = {
        "region": asked.settings["region"],
        "networkRef": {"name": name(asked)},
        "ipCidrRange": parts.nodes,
        "secondaryIpRange": secondary,
        "privateIpGoogleAccess": True,
    }
    there = seen.get(SUBNETWORK)
    for field in ("region", "ipCidrRange", "secondaryIpRange"):
        if there and (before := get(there.for_provider, (field,))) is not None:
            subnetwork[field] = before
    return {
        NETWORK: Managed(kinds.NETWORK, name(asked), {"autoCreateSubnetworks": False}),
        SUBNETWORK: Managed(kinds.SUBNETWORK, name(asked), subnetwork),
    }


def of_cluster(asked: Asked) -> dict[str, Any]:
    """Return the fields of the cluster by which it is in its network."""
    found = brought(asked)
    if not found:
        policy = {"clusterSecondaryRangeName": _PODS, "servicesSecondaryRangeName": _SERVICES}
        of_made = {"networkRef": {"name": name(asked)}, "subnetworkRef": {"name": name(asked)}}
        return {**of_made, "ipAllocationPolicy": policy}
    policy = {"clusterSecondaryRangeName": found["podRange"], "servicesSecondaryRangeName": found["serviceRange"]}
    return {"network": found["network"], "subnetwork": found["subnetwork"], "ipAllocationPolicy": policy}


def of_files(asked: Asked) -> str:
    """Return the network in which file shares are made."""
    return str(brought(asked).get("network") or name(asked))
