"""Which taints a deployment tolerates, and which clusters may take a new replica at all.

Rules: a toleration without effect matches both effects; Exists with an empty key matches every key; Exists ignores
the value and Equal compares key and value, an absent value being the empty one. Every taint must be tolerated, those
with NoSchedule as well as those with NoExecute. A candidate is not being deleted, Ready, has a gateway address and
carries the labels of the deployment's and of its cache's selector.
"""

from collections.abc import Mapping

from modelplane.model.deployment import Deployment, Toleration
from modelplane.model.fleet import Cluster, Effect, Taint


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Tell whether one toleration accepts one taint."""
    if toleration.effect is not None and toleration.effect is not taint.effect:
        return False
    if toleration.exists:
        return toleration.key in {"", taint.key}
    return (toleration.key, toleration.value) == (taint.key, taint.value)


def untolerated(deployment: Deployment, cluster: Cluster, *effects: Effect) -> list[Taint]:
    """Return the cluster's taints of these effects that the deployment does not tolerate."""
    return [
        taint
        for taint in cluster.taints
        if taint.effect in effects and not any(tolerates(t, taint) for t in deployment.tolerations)
    ]


def carries(cluster: Cluster, labels: Mapping[str, str]) -> bool:
    """Tell whether the cluster carries all labels."""
    return all(cluster.labels.get(key) == value for key, value in labels.items())


def may_take(deployment: Deployment, cluster: Cluster, cache_labels: Mapping[str, str]) -> bool:
    """Tell whether the cluster may take new replicas of the deployment, devices and room aside."""
    return (
        not cluster.deleting
        and cluster.ready
        and cluster.address is not None
        and carries(cluster, deployment.cluster_selector)
        and carries(cluster, cache_labels)
        and not untolerated(deployment, cluster, Effect.NO_SCHEDULE, Effect.NO_EXECUTE)
    )
