"""The ObservedObjectCollection of provider-kubernetes: looks at all objects of a kind on a cluster by their labels."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import PROVIDER_API


def collection(
    looked_at: Mapping[str, Any], *, namespace: str, config: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the collection in `namespace` of what is `looked_at` on the cluster of the ClusterProviderConfig `config`.

    `looked_at` holds apiVersion, kind, namespace and a label selector. The provider makes an Object with `labels` for
    each object that it finds, which only looks at it.
    """
    return {
        "apiVersion": PROVIDER_API,
        "kind": "ObservedObjectCollection",
        "metadata": {"namespace": namespace},
        "spec": {
            "observeObjects": dict(looked_at),
            "objectTemplate": {"metadata": {"labels": dict(labels)}},
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
        },
    }
