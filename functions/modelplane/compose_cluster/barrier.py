"""The Object by which the load balancer of a cluster that is made goes before the cluster.

Clouds leave a load balancer behind, and bill it, if its cluster goes first. The Object's deletion deletes the Service
of the Gateway, which the cloud's controller keeps until its load balancer is gone. No other Object deletes anything on
such a cluster, and this one stays until the Gateway's own is gone.
"""

from typing import Final

from modelplane.compose_cluster import gateway
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.compose_cluster.sources import BARRIER, Provision
from modelplane.kube.object import Handling, remote_object
from modelplane.model.names import CLUSTER_GATEWAY, ENVOY_NAMESPACE, SYSTEM_NAMESPACE
from modelplane.step import Manifest

_HANDLING: Final = Handling(policies=("Observe", "Delete"), seldom=True)


def bodies(config: str, observation: ClusterObservation, provision: Provision) -> dict[str, Manifest]:
    """Return the barrier, if the source orders something by it, once there is a load balancer; it stays then."""
    wanted = any(BARRIER in users for users in provision.outlives.values())
    served = gateway.is_ours(observation.gateway) and bool(observation.address)
    if not wanted or not (served or BARRIER in observation.observed):
        return {}
    metadata = {"name": CLUSTER_GATEWAY, "namespace": ENVOY_NAMESPACE}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata}
    return {BARRIER: remote_object(service, _HANDLING, namespace=SYSTEM_NAMESPACE, config=config)}
