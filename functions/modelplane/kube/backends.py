"""The backends that the route of a replica leads to: a Service, or an InferencePool in which a picker chooses."""

from collections.abc import Mapping
from typing import Any

from modelplane.model.names import ENGINE_SERVICE_PORT, PICKER_PORT

POOL_GROUP = "inference.networking.k8s.io"


def service(
    name: str, namespace: str, labels: Mapping[str, str], *, selector: Mapping[str, str], target: int | str
) -> dict[str, Any]:
    """Return the Service that takes port 80 to a port (number or name) of the pods that `selector` selects."""
    port = {"name": "http", "port": ENGINE_SERVICE_PORT, "targetPort": target, "protocol": "TCP"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {"selector": dict(selector), "ports": [port]},
    }


def service_backend(name: str) -> dict[str, Any]:
    """Return the backendRef of a route to such a Service."""
    return {"name": name, "port": ENGINE_SERVICE_PORT}


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
