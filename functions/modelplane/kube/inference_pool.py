"""The InferencePool: the serving pods of a replica as one backend, in which an endpoint picker chooses."""

from collections.abc import Mapping
from typing import Any

from modelplane.model.names import PICKER_PORT

POOL_GROUP = "inference.networking.k8s.io"


def inference_pool(  # noqa: PLR0913 - what a pool is made of
    name: str, namespace: str, labels: Mapping[str, str], *, selector: Mapping[str, str], picker: str, port: int
) -> dict[str, Any]:
    """Return the pool of the pods that `selector` selects, on `port`; `picker` is the endpoint picker's Service.

    If the picker does not answer, a request fails (FailClose): with FailOpen the gateway would follow a client's
    header.
    """
    return {
        "apiVersion": f"{POOL_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {
            "selector": {"matchLabels": dict(selector)},
            "targetPorts": [{"number": port}],
            "endpointPickerRef": {
                "kind": "Service",
                "name": picker,
                "port": {"number": PICKER_PORT},
                "failureMode": "FailClose",
            },
        },
    }


def pool_backend(name: str) -> dict[str, Any]:
    """Return the backendRef of a route to such a pool."""
    return {"group": POOL_GROUP, "kind": "InferencePool", "name": name}
