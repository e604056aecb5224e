"""A ModelEndpoint that a ModelDeployment composed, as test input."""

from typing import Any

HOST = "qwen-1234abcd.ml.eu-1.replicas.modelplane.internal"
DEPLOYMENT = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": "qwen", "uid": "u"}
COMPOSED = DEPLOYMENT | {"controller": True}


def endpoint(url: str = "https://gw.example.org", host: str | None = HOST, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelEndpoint",
        "metadata": {"name": "qwen-1234abcd", "namespace": "ml", "ownerReferences": [fields.pop("owner", COMPOSED)]}
        | fields.pop("metadata", {}),
        "spec": {"url": url} | ({"host": host} if host else {}) | fields.pop("spec", {}),
        **fields,
    }
