"""The ClusterUsage that keeps a cluster-scoped object from being deleted, for a reason."""

from typing import Any


def protected(api_version: str, kind: str, name: str, *, reason: str) -> dict[str, Any]:
    """Return the usage that refuses the deletion of an object with `reason`, as long as the usage exists."""
    return {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "ClusterUsage",
        "metadata": {},
        "spec": {"of": {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": name}}, "reason": reason},
    }
