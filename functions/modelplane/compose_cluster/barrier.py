"""The Object by which the load balancer of a cluster that is made goes before the cluster.

Clouds leave a load balancer behind, and bill it, if its cluster goes first. The Object's deletion deletes the Service
of the Gateway, which the cloud's controller keeps until its load balancer is gone. No other Object deletes anything on
such a cluster, and this one stays until the Gateway's own is gone.

A deletion may begin at any moment. So the Object deletes nothing until the Usages exist by which the cluster outlives
it, or it would wait for ever for a cluster that is gone; and the Gateway is made only once it would be deleted.
"""

from typing import Final

from modelplane.compose_cluster import gateway, provisioning
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.compose_cluster.sources import BARRIER, Provision
from modelplane.composing.orphan import may_delete, only_observes, orphaned
from modelplane.kube.object import Handling, remote_object
from modelplane.model.names import CLUSTER_GATEWAY, ENVOY_NAMESPACE, SYSTEM_NAMESPACE
from modelplane.observed.cluster import is_abandoned
from modelplane.step import Manifest, Request

_HANDLING: Final = Handling(policies=("Observe", "Delete"), seldom=True)


def _is_wanted(provision: Provision) -> bool:
    """Tell whether the source orders something by a barrier."""
    return any(BARRIER in users for users in provision.outlives.values())


def bodies(request: Request, config: str, observation: ClusterObservation, provision: Provision) -> dict[str, Manifest]:
    """Return the barrier, if the source orders something by it, once a Gateway is being made; it stays then.

    That of a cluster which is abandoned deletes nothing.
    """
    being_made = any(name.startswith(gateway.PART) for name in request.observed)
    served = gateway.is_ours(observation.gateway) and bool(observation.address)
    if not _is_wanted(provision) or not (being_made or served or BARRIER in observation.observed):
        return {}
    metadata = {"name": CLUSTER_GATEWAY, "namespace": ENVOY_NAMESPACE}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata}
    body = remote_object(service, _HANDLING, namespace=SYSTEM_NAMESPACE, config=config)
    ordered = request.observed.keys() >= provisioning.usages_about(provision, BARRIER)
    return {BARRIER: body if ordered and not is_abandoned(request.composite) else orphaned(body)}


def allows_gateway(request: Request, provision: Provision) -> bool:
    """Tell whether the Gateway may be made: it is already, or its load balancer would be deleted before the cluster."""
    seen, found = request.observed.get(gateway.RESOURCE), request.observed.get(BARRIER)
    if not _is_wanted(provision) or (seen and not only_observes(seen.body)):
        return True
    return bool(found and may_delete(found.body))
