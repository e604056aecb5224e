"""Source Existing: a cluster that is brought with a kubeconfig."""

from typing import Any

from modelplane.api.inferencecluster import Existing
from modelplane.kube.provider_config import cluster_provider_config, secret_key
from modelplane.model.names import provider_config


def reach(cluster: str, existing: Existing) -> dict[str, Any]:
    """Return the ClusterProviderConfig of the cluster.

    No Usage orders its deletion: what uses it is observe-only, or keeps the InferenceCluster itself by a finalizer,
    and the provider keeps a config in use.
    """
    kubeconfig, identity = existing.secretRef, existing.identitySecretRef
    return cluster_provider_config(
        provider_config(cluster),
        credentials=secret_key(kubeconfig.name, kubeconfig.key),
        identity={"type": identity.type, **secret_key(identity.name, identity.key)} if identity else None,
    )


def storage_class(existing: Existing) -> str | None:
    """Return the StorageClass for model caches, None when none is named."""
    return existing.cache.storageClassName if existing.cache else None
