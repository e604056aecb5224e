"""Opens sealed values. Only `modelplane.transport` may import this module (a contract of import-linter)."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from modelplane.step.sealed import Sealed
from modelplane.step.secrets import turn_values


def open_secrets(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest with the values of the Secrets in it as Kubernetes takes them: base64 in `data`.

    A sealed value in any other place stays sealed, so that it cannot be serialized.
    """
    return turn_values(manifest, _open)


def _open(value: Sealed) -> str:
    return b64encode(value._content).decode()
