"""The namespace on an inference cluster that mirrors a team's namespace."""

from typing import Any

from modelplane.model.names import LABEL_NAMESPACE, tenant_namespace


def tenant(namespace: str) -> dict[str, Any]:
    """Return the Namespace that mirrors the team's `namespace` of the control cluster."""
    labels = {LABEL_NAMESPACE: namespace}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": tenant_namespace(namespace), "labels": labels},
    }
