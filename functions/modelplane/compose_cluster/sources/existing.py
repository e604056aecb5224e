"""Source Existing: a cluster that is reached by a kubeconfig. Nothing of the cluster itself is composed."""

from modelplane.api.inferencecluster import ClusterExisting, InferenceClusterSpec, NodePool
from modelplane.compose_cluster.sources.source import Kubeconfig, PoolState, Provision, SecretKey
from modelplane.model.observation import Malformed
from modelplane.step import Request


def _kubeconfig(existing: ClusterExisting) -> Kubeconfig:
    kubeconfig, identity = existing.secretRef, existing.identitySecretRef
    return Kubeconfig(
        SecretKey(kubeconfig.name, kubeconfig.key),
        (identity.type, SecretKey(identity.name, identity.key)) if identity else None,
    )


def _nodes(pool: NodePool) -> int:
    """Return the most nodes that a pool can have."""
    counts = (pool.maxNodeCount, pool.nodeCount, pool.minNodeCount)
    return next((count for count in counts if count is not None), 1)


def provision(request: Request, spec: InferenceClusterSpec) -> Provision | Malformed:
    """Return how the cluster is reached, and its node counts and storage as the spec declares them."""
    existing = spec.cluster.existing
    if existing is None:
        name = request.composite.name
        return Malformed("InferenceCluster", name, "spec.cluster.existing", "is required by source Existing")
    return Provision(
        kubeconfig=_kubeconfig(existing),
        pools={pool.name: PoolState(_nodes(pool)) for pool in spec.nodePools or ()},
        storage_class=existing.cache.storageClassName if existing.cache else None,
        cache_user=existing.cache.runAsUser if existing.cache else None,
    )
