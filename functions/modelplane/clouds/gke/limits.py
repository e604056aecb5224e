"""What of a spec GKE cannot make, where the XRD cannot say it."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Final

from modelplane.clouds.cloud import Asked
from modelplane.clouds.counts import counts_of
from modelplane.clouds.gke import network

#: Nodes that the pool for the system may have.
_SYSTEM: Final = 6


def refused(asked: Asked) -> tuple[str, ...]:
    """Return what cannot be made, each with the field and what would be accepted."""
    return (*_zones(asked), *_addresses(asked), *_access(asked))


def _zones(asked: Asked) -> Iterator[str]:
    region = asked.settings["region"]
    for pool in asked.pools:
        wrong = [zone for zone in pool.zones if zone.rpartition("-")[0] != region]
        if wrong and not pool.leaving:
            yield (
                f"node pool {pool.name}: zones: {', '.join(wrong)} is not in the region {region}; "
                f"name zones such as {region}-a"
            )


def _addresses(asked: Asked) -> Iterator[str]:
    most = sum(counts_of(pool).most for pool in asked.pools) + _SYSTEM
    if not network.brought(asked) and most > network.MOST_NODES:
        yield (
            f"node pools: {most} nodes are asked for, {_SYSTEM} of them for the system, and the network has addresses "
            f"for the pods of {network.MOST_NODES}; ask for fewer, or bring one in spec.cluster.gke.network.existing"
        )


def _access(asked: Asked) -> Iterator[str]:
    for each in asked.settings.get("apiAccessCIDRs") or ():
        try:
            ip_network(each)
        except ValueError as error:
            yield f"spec.cluster.gke.apiAccessCIDRs: {error}; write a network such as 192.0.2.0/24"
