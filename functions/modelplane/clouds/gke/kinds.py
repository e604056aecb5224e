"""The kinds of provider-gcp that a cluster is made of."""

from typing import Final

from modelplane.clouds.cloud import Kind

_COMPUTE: Final = "compute.gcp.m.upbound.io/v1beta1"
_CLOUD_PLATFORM: Final = "cloudplatform.gcp.m.upbound.io/v1beta1"
_CONTAINER: Final = "container.gcp.m.upbound.io/v1beta1"
_GCP: Final = "gcp.m.upbound.io/v1beta1"

NETWORK: Final = Kind(_COMPUTE, "Network")
SUBNETWORK: Final = Kind(_COMPUTE, "Subnetwork")
PROJECT_SERVICE: Final = Kind(_CLOUD_PLATFORM, "ProjectService")
SERVICE_ACCOUNT: Final = Kind(_CLOUD_PLATFORM, "ServiceAccount")
SERVICE_ACCOUNT_KEY: Final = Kind(_CLOUD_PLATFORM, "ServiceAccountKey")
PROJECT_IAM_MEMBER: Final = Kind(_CLOUD_PLATFORM, "ProjectIAMMember")
CLUSTER: Final = Kind(_CONTAINER, "Cluster")
NODE_POOL: Final = Kind(_CONTAINER, "NodePool")
CLUSTER_PROVIDER_CONFIG: Final = Kind(_GCP, "ClusterProviderConfig")
PROVIDER_CONFIG: Final = Kind(_GCP, "ProviderConfig")
#: What plans are made of.
MANAGED: Final = (
    NETWORK,
    SUBNETWORK,
    PROJECT_SERVICE,
    SERVICE_ACCOUNT,
    SERVICE_ACCOUNT_KEY,
    PROJECT_IAM_MEMBER,
    CLUSTER,
    NODE_POOL,
)
ALL: Final = (*MANAGED, CLUSTER_PROVIDER_CONFIG, PROVIDER_CONFIG)
