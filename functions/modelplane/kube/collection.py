"""The ObservedObjectCollection of provider-kubernetes: observes all objects of a kind on a cluster by their labels."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import PROVIDER_API

COLLECTION = "ObservedObjectCollection"


def collection(
    observed: Mapping[str, Any], *, namespace: str, config: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the collection in `namespace` that observes objects on the cluster of the ClusterProviderConfig `config`.

    `observed` has apiVersion, kind, namespace and a label selector. For each object that it finds, the provider creates
    an observe-only Object with `labels`.
    """
    return {
        "apiVersion": PROVIDER_API,
        "kind": COLLECTION,
        "metadata": {"namespace": namespace},
        "spec": {
            "observeObjects": dict(observed),
            "objectTemplate": {"metadata": {"labels": dict(labels)}},
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
        },
    }
