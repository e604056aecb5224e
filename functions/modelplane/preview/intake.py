"""Completes an applied object: its scope, and the fields that the control plane keeps on it."""

from typing import Any

from modelplane.preview.admission import InvalidObject, identify, validate
from modelplane.reading.kinds import key_of
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.tree import Manifest, Tree, mapping

#: Labels and annotations that Crossplane owns begin with this.
_CROSSPLANE = "crossplane.io/"
_DEFAULT_NAMESPACE = "default"


def read_object(given: Any, store: ManifestStore) -> Tree:
    """Return an object as the API server would store it, replacing a stored version if any; raises InvalidObject.

    For known kinds, a namespaced object without a namespace goes to `default`, and a cluster-scoped one gets none.
    """
    try:
        obj: Tree = identify(given)
        namespaced = store.is_namespaced(obj["apiVersion"], obj["kind"])
        if namespaced and not obj["metadata"].get("namespace"):
            obj["metadata"]["namespace"] = _DEFAULT_NAMESPACE
        elif namespaced is False:
            obj["metadata"].pop("namespace", None)
        old = store.peek(key_of(obj))
        return validate(carry_forward(obj, old) if old else obj, old)
    except RecursionError as error:
        raise InvalidObject(given, "", "nested too deeply") from error


def carry_forward(obj: Tree, old: Manifest) -> Tree:
    """Return an object that replaces `old`, with what Crossplane and the garbage collector keep on it.

    A manifest lacks the fields that the control plane writes, so these stay unless they are given: the status,
    `spec.crossplane`, owners, finalizers, a deletionTimestamp, and Crossplane's own labels and annotations.
    """
    before, metadata = old["metadata"], dict(obj["metadata"])
    for field in ("ownerReferences", "finalizers", "deletionTimestamp", "generateName"):
        if field in before:
            metadata.setdefault(field, before[field])
    for field in ("labels", "annotations"):
        kept = {k: v for k, v in mapping(before, field).items() if k.startswith(_CROSSPLANE)}
        if kept:
            metadata[field] = {**kept, **mapping(metadata, field)}
    result = {**obj, "metadata": metadata}
    if not result.get("status") and "status" in old:
        result["status"] = old["status"]
    machinery = mapping(old, "spec", "crossplane")
    if machinery and isinstance(obj.get("spec"), dict):
        result["spec"] = {**obj["spec"], "crossplane": {**machinery, **mapping(obj, "spec", "crossplane")}}
    return result
