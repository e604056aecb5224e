"""The requirements that several steps state: one key and one selection for each, so that they are one request."""

from collections.abc import Mapping

from modelplane.model.names import API_VERSION, LABEL_CLUSTER
from modelplane.step import Requirement


def cluster(name: str) -> Requirement:
    """Return the requirement of an InferenceCluster."""
    return Requirement(f"cluster-{name}", API_VERSION, "InferenceCluster", match_name=name)


def clusters(labels: Mapping[str, str]) -> Requirement:
    """Return the requirement of the InferenceClusters that carry all `labels`."""
    return Requirement("clusters", API_VERSION, "InferenceCluster", match_labels=labels)


def inference_class(name: str) -> Requirement:
    """Return the requirement of an InferenceClass."""
    return Requirement(f"class-{name}", API_VERSION, "InferenceClass", match_name=name)


def cache(name: str, namespace: str) -> Requirement:
    """Return the requirement of a ModelCache of the namespace."""
    return Requirement("cache", API_VERSION, "ModelCache", match_name=name, namespace=namespace)


def residents(cluster: str) -> Requirement:
    """Return the requirement of the ModelReplicas labelled with a cluster, of all namespaces."""
    return Requirement(f"residents-{cluster}", API_VERSION, "ModelReplica", match_labels={LABEL_CLUSTER: cluster})


def team_replicas(namespace: str) -> Requirement:
    """Return the requirement of all ModelReplicas of a namespace: one written by hand may carry no label."""
    return Requirement("replicas", API_VERSION, "ModelReplica", namespace=namespace)


def source(kind: str, name: str, namespace: str) -> Requirement:
    """Return the requirement of a Secret or ConfigMap of the namespace. Crossplane sends it without its values."""
    return Requirement(f"source-{kind}-{name}", "v1", kind, match_name=name, namespace=namespace)
