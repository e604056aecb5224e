"""Whether a cluster answers: an observed object has come back from it through its kubeconfig."""

from typing import Any

from modelplane.kube.object import observed_only, remote_object
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.observed.remote import Remote

RESOURCE = "kube-system"
#: Every cluster has it, and nobody deletes it.
_MANIFEST = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}


def probe(config: str) -> dict[str, Any]:
    """Return the Object that looks at the cluster's kube-system Namespace."""
    return remote_object(_MANIFEST, observed_only(), namespace=SYSTEM_NAMESPACE, config=config)


def judge(probed: Remote | None) -> Condition:
    """Return ClusterReady as far as the connection goes: running, unreachable with the error, or not known yet."""
    if probed and probed.synced is False:
        return Condition(
            ClusterCondition.CLUSTER_READY, Status.FALSE, Reason.UNREACHABLE, f"Namespace kube-system {probed.stale}"
        )
    if probed and probed.manifest:
        return Condition(ClusterCondition.CLUSTER_READY, Status.TRUE, Reason.CLUSTER_RUNNING)
    return Condition(
        ClusterCondition.CLUSTER_READY, Status.FALSE, Reason.PROVISIONING, "no answer from the cluster yet"
    )
