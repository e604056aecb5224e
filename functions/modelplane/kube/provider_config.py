"""The ClusterProviderConfig through which provider-kubernetes reaches an inference cluster."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import CLUSTER_CONFIG, OWN_CONFIG, PROVIDER_API
from modelplane.model.names import SYSTEM_NAMESPACE


def secret_key(name: str, key: str) -> dict[str, Any]:
    """Return credentials that are a key of a Secret in the system namespace."""
    return {"source": "Secret", "secretRef": {"namespace": SYSTEM_NAMESPACE, "name": name, "key": key}}


def cluster_provider_config(
    name: str, *, credentials: dict[str, Any], identity: dict[str, Any] | None = None, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the config with a kubeconfig as `credentials` and, where that carries none, a cloud `identity`."""
    spec = {"credentials": credentials} | ({"identity": identity} if identity else {})
    metadata = {"name": name} | ({"labels": dict(labels)} if labels else {})
    return {"apiVersion": PROVIDER_API, "kind": CLUSTER_CONFIG, "metadata": metadata, "spec": spec}


#: Credentials of a provider itself, by which it reaches the control cluster.
OF_PROVIDER: Mapping[str, Any] = {"source": "InjectedIdentity"}


def control_cluster_config(name: str) -> dict[str, Any]:
    """Return the config for Objects of the system namespace that are on the control cluster."""
    metadata = {"name": name, "namespace": SYSTEM_NAMESPACE}
    spec = {"credentials": dict(OF_PROVIDER)}
    return {"apiVersion": PROVIDER_API, "kind": OWN_CONFIG, "metadata": metadata, "spec": spec}
