"""Secrets and ConfigMaps that are not in the input of a preview, and are assumed to exist.

An export of our kinds by kubectl does not contain them. ControlPlane itself assumes nothing: its caller applies all
objects.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from modelplane.model.names import EJECTIONS, INSTALLATION, SYSTEM_NAMESPACE, digest
from modelplane.preview.control_plane import ControlPlane
from modelplane.reading.kinds import Key

_KINDS: Final = ("Secret", "ConfigMap")
#: The kinds whose composition reads values of Secrets.
_READERS: Final = ("ModelEndpoint", "ModelService")
#: Required by a step, but may be absent.
_OPTIONAL: Final = frozenset(Key("ConfigMap", SYSTEM_NAMESPACE, name) for name in (INSTALLATION, EJECTIONS))


def _missing(control: ControlPlane) -> list[Key]:
    return [key for kind in _KINDS for key in control.missing(kind) if key not in _OPTIONAL]


def _keys(spec: Any, name: str) -> Iterator[str]:
    """Yield the keys at which a spec reads the Secret of a name: `secretRef {name, key}` at any depth."""
    parts = spec.values() if isinstance(spec, Mapping) else spec if isinstance(spec, list) else ()
    for part in parts:
        yield from _keys(part, name)
    if isinstance(spec, Mapping) and spec.get("name") == name and isinstance(key := spec.get("key"), str):
        yield key


def _data(control: ControlPlane, secret: Key) -> dict[str, str]:
    """Return a distinct value for each key that the services and endpoints of the Secret's namespace read."""
    readers = [each for kind in _READERS for each in control.list(kind)]
    specs = [each["spec"] for each in readers if each["metadata"].get("namespace") == secret.namespace]
    keys = sorted({key for spec in specs for key in _keys(spec, secret.name)})
    return {key: base64.b64encode(digest(secret.name, key).encode()).decode() for key in keys}


def supply(control: ControlPlane) -> list[Key]:
    """Create every Secret and ConfigMap that a pass has missed, and return them."""
    missing = _missing(control)
    for key in missing:
        metadata = {"name": key.name, "namespace": key.namespace}
        data = {"data": _data(control, key)} if key.kind == "Secret" else {}
        control.apply({"apiVersion": "v1", "kind": key.kind, "metadata": metadata, **data})
    return missing


def settle_assuming(control: ControlPlane, assumed: list[Key]) -> bool:
    """Settle with every missing Secret and ConfigMap created and appended to `assumed`; return as `settle` does."""
    settled = control.settle()
    while settled and (missing := supply(control)):
        assumed += missing
        settled = control.settle()
    return settled
