"""Which fields of GKE's resources cannot be changed, and which replace every node when they are.

Terraform's provider, on which provider-gcp is built, marks the first as ForceNew (resource_container_cluster.go,
resource_container_node_pool.go, node_config.go). The provider refuses to replace the resource, and changes nothing else
of it meanwhile. The others update in place: GKE then makes every node of the pool anew.
"""

from typing import Final

from modelplane.clouds.edits import Field

_FORCE_NEW: Final = "ForceNew"
_RECREATES: Final = "GKE makes the nodes anew"

OF_CLUSTER: Final = (
    Field(("location",), "spec.cluster.gke.region", _FORCE_NEW),
    Field(("initialNodeCount",), "", _FORCE_NEW),
    Field(("networkingMode",), "", _FORCE_NEW),
    Field(("network",), "spec.cluster.gke.network", _FORCE_NEW),
    Field(("networkRef",), "spec.cluster.gke.network", _FORCE_NEW),
    Field(("subnetwork",), "spec.cluster.gke.network", _FORCE_NEW),
    Field(("subnetworkRef",), "spec.cluster.gke.network", _FORCE_NEW),
    Field(("ipAllocationPolicy",), "spec.cluster.gke.network", _FORCE_NEW),
    Field(("datapathProvider",), "", "fixed when a cluster is made"),
)
OF_POOL: Final = (
    Field(("location",), "spec.cluster.gke.region", _FORCE_NEW),
    Field(("maxPodsPerNode",), "maxPodsPerNode", _FORCE_NEW),
    Field(("nodeConfig", "guestAccelerator"), "provisioning.gke.accelerator", _FORCE_NEW),
    Field(("nodeConfig", "reservationAffinity"), "reservation", _FORCE_NEW),
    Field(("nodeConfig", "oauthScopes"), "oauthScopes", _FORCE_NEW),
)
ROLLING: Final = (
    Field(("nodeConfig", "machineType"), "provisioning.gke.machineType", _RECREATES),
    Field(("nodeConfig", "diskSizeGb"), "provisioning.gke.diskSizeGb", _RECREATES),
    Field(("nodeConfig", "imageType"), "imageType", _RECREATES),
    Field(("nodeConfig", "labels"), "the labels of its nodes", _RECREATES),
    Field(("nodeConfig", "taint"), "the taints of its nodes", _RECREATES),
    Field(("nodeConfig", "workloadMetadataConfig"), "workloadMetadataConfig", _RECREATES),
    Field(("nodeLocations",), "zones", "GKE moves the nodes to the other zones"),
    Field(("version",), "spec.cluster.gke.kubernetesVersion", _RECREATES),
)
