"""The Service in front of a replica's serving pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.model.names import ENGINE_SERVICE_PORT


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
