"""The kinds of the control cluster's gateway: their API versions, and how one object refers to another."""

from collections.abc import Mapping
from typing import Any, Final

GATEWAY_GROUP: Final = "gateway.networking.k8s.io"
GATEWAY_API: Final = f"{GATEWAY_GROUP}/v1"
ENVOY_GROUP: Final = "gateway.envoyproxy.io"
ENVOY_API: Final = f"{ENVOY_GROUP}/v1alpha1"


def gateway_object(kind: str, name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of Gateway API."""
    return {"apiVersion": GATEWAY_API, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def envoy_object(kind: str, name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of Envoy Gateway."""
    return {"apiVersion": ENVOY_API, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def target(kind: str, name: str) -> dict[str, str]:
    """Return the reference of a policy to the object of Gateway API in its namespace that it holds for."""
    return {"group": GATEWAY_GROUP, "kind": kind, "name": name}
