"""The cluster's inference gateway: its address, as the cluster says it."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import observed_only, remote_object
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE
from modelplane.observed.endpoint import is_ip
from modelplane.observed.fields import text
from modelplane.observed.gateway import choose_address
from modelplane.observed.remote import Remote

RESOURCE = "gateway"
_MANIFEST = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {"name": CLUSTER_GATEWAY, "namespace": SYSTEM_NAMESPACE},
}
_HAS_ADDRESS = "has(object.status) && has(object.status.addresses) && size(object.status.addresses) > 0"


def observe_gateway(config: str) -> dict[str, Any]:
    """Return the Object that observes the cluster's Gateway."""
    handling = observed_only(ready_when=_HAS_ADDRESS, watch=True)
    return remote_object(_MANIFEST, handling, namespace=SYSTEM_NAMESPACE, config=config)


def read_address(seen: Remote | None, last: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `status.gateway`: address, and hostname where the address is a DNS name; empty while there is none.

    Only the Gateway's status changes what was published: while it is not observed, or not in sync, the last
    address stays. Of several addresses the published one is preferred, so that their order changes nothing.
    """
    if seen is None or seen.manifest is None or (seen.synced is False and last):
        return last
    address = choose_address(seen.manifest, text(last.get("address")))
    if not address:
        return {}
    return {"address": address} if is_ip(address) else {"address": address, "hostname": address}
