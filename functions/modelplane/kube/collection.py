"""The ObservedObjectCollection of provider-kubernetes: observes all objects of a kind on a cluster by their labels."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import PROVIDER_API

COLLECTION = "ObservedObjectCollection"


def collection(
    observed: Mapping[str, Any], *, namespace: str, config: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the collection in `namespace` of what is `observed` on the cluster of the ClusterProviderConfig `config`.

    `observed` holds apiVersion, kind, namespace and a label selector. The provider makes an Object with `labels` for
    each object that it finds, which only observes it.
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
