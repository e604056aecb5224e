"""Holds composed resources: desires them as they are observed, while what they are made of is not known.

A resource that is left out of the desired state is deleted, so a step that cannot compose holds.
"""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.step import Request

#: What is written into metadata by Crossplane and kubectl, and is not ours to desire.
_FOREIGN_DOMAIN: Final = "crossplane.io"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def _is_foreign(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    crossplane = domain == _FOREIGN_DOMAIN or domain.endswith(f".{_FOREIGN_DOMAIN}")
    return key == _LAST_APPLIED or (bool(slash) and crossplane)


def _kept(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity, labels, annotations and further owners: server-side apply removes what is not repeated."""
    kept: dict[str, Any] = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    for field in ("labels", "annotations"):
        entries = {key: value for key, value in (metadata.get(field) or {}).items() if not _is_foreign(key)}
        kept |= {field: entries} if entries else {}
    owners = [owner for owner in metadata.get("ownerReferences") or () if not owner.get("controller")]
    return kept | ({"ownerReferences": owners} if owners else {})


def held(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observed composed resource as it should stay: its spec and what was composed of its metadata.

    Status, the composite's own reference and what Crossplane writes into labels and annotations are left out.
    """
    kind = {key: body[key] for key in ("apiVersion", "kind")}
    return {**kind, "metadata": _kept(body["metadata"]), "spec": body.get("spec", {})}


def hold_all(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return every observed resource held, by composition resource name."""
    return {resource: held(found.body) for resource, found in request.observed.items()}
