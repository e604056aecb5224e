"""Keeps the reference of an existing Object to its InferenceCluster.

The provider adds a finalizer to the objects that an Object refers to, and removes it only if the Object still has the
reference. If the reference were removed before, the InferenceCluster could never be deleted.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.observed.fields import mapping, mappings
from modelplane.step import Object


def _to_cluster(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the references of an Object to InferenceClusters."""
    references = mappings(mapping(body.get("spec")).get("references"))
    return [each for each in references if mapping(each.get("dependsOn")).get("kind") == "InferenceCluster"]


def refers_to_cluster(body: Mapping[str, Any]) -> bool:
    """Tell whether an Object refers to an InferenceCluster, and so keeps it."""
    return bool(_to_cluster(body))


def with_kept_reference(body: Mapping[str, Any], observed: Object | None) -> Mapping[str, Any]:
    """Return a composed resource with the references to InferenceClusters of the observed one."""
    kept = _to_cluster(observed.body) if observed else []
    if not kept or _to_cluster(body):
        return body
    spec = body["spec"]
    return {**body, "spec": {**spec, "references": [*spec.get("references", ()), *kept]}}
