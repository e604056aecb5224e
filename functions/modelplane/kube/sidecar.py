"""The sidecar of a decode engine: takes requests, has prompts prefilled elsewhere, and forwards to the engine."""

from typing import Any

from modelplane.kube.images import Image
from modelplane.model.names import ENGINE_PORT


def decode_sidecar(engine_port: int, connector: str) -> dict[str, Any]:
    """Return the container that listens where requests arrive; the engine of its pod listens on `engine_port`.

    `connector` is how the engines of the pair pass KV caches, as the sidecar calls it.

    It answers `/health` for itself alone, so that the engine keeps probes of its own.
    """
    return {
        "name": "decode-sidecar",
        "image": Image.DECODE_SIDECAR.reference,
        "args": ["--secure-proxy=false", f"--kv-connector={connector}", f"--vllm-port={engine_port}"],
        "ports": [{"name": "requests", "containerPort": ENGINE_PORT, "protocol": "TCP"}],
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": ENGINE_PORT},
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 3,
        },
    }
