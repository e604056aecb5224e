"""Keeps an Object's reference to its InferenceCluster, once it has one.

The provider writes a finalizer into what an Object refers to when it first sees the Object, and takes it away only
while the Object still has the reference. Without it the InferenceCluster could never be deleted.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.observed.fields import mapping, mappings
from modelplane.step import Object


def _to_cluster(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the references of an Object to InferenceClusters."""
    references = mappings(mapping(body.get("spec")).get("references"))
    return [each for each in references if mapping(each.get("dependsOn")).get("kind") == "InferenceCluster"]


def with_kept_reference(body: Mapping[str, Any], observed: Object | None) -> Mapping[str, Any]:
    """Return a composed resource with the references to InferenceClusters that it has as it is observed."""
    kept = _to_cluster(observed.body) if observed else []
    if not kept or _to_cluster(body):
        return body
    spec = body["spec"]
    return {**body, "spec": {**spec, "references": [*spec.get("references", ()), *kept]}}
