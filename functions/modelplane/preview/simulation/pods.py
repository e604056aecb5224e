"""The pods of a world as provider-kubernetes shows them: an Object for each pod that a collection selects."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane.model.names import OBSERVE_ONLY
from modelplane.preview.deletion import Deletions
from modelplane.preview.simulation.providers import COLLECTION, OBJECT, cluster_of, condition_of
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping

#: (cluster, manifest) of a pod.
Pod = tuple[str, Manifest]

#: The label by which provider-kubernetes knows the Objects of a collection.
_MEMBER_OF = "kubernetes.crossplane.io/owned-by-collection"


def observe_pods(store: Store, deletions: Deletions, pods: Iterable[Pod]) -> None:
    """Write the Objects of the pods that every collection selects; those of an unreachable cluster stay as they are."""
    by_cluster: defaultdict[str, list[Manifest]] = defaultdict(list)
    for cluster, pod in pods:
        by_cluster[cluster].append(pod)
    for collection in tuple(store.scan(COLLECTION)):
        if not (collection["metadata"].get("deletionTimestamp") or _out_of_reach(collection)):
            selected = [pod for pod in by_cluster[cluster_of(collection)] if _selects(collection, pod)]
            _observe(store, deletions, collection, selected)


def _observe(store: Store, deletions: Deletions, collection: Manifest, pods: Iterable[Manifest]) -> None:
    """Write the Objects of these pods for one collection, and delete its others."""
    gone = set(_members(store, collection))
    for pod in pods:
        member = _member(collection, pod)
        key = key_of(member)
        metadata = {**mapping(store.peek(key), "metadata"), **member["metadata"]}
        store.put({**member, "metadata": metadata, "status": _status(store, key, pod)})
        # It already has its status, so the world does not answer for it.
        store.pinned.add(key)
        gone.discard(key)
    for key in sorted(gone):
        deletions.delete(key)


def _members(store: Store, collection: Manifest) -> list[Key]:
    """Return the Objects that a collection made."""
    metadata = collection["metadata"]
    labelled = store.scan(OBJECT, {_MEMBER_OF: metadata["name"]})
    return [key_of(obj) for obj in labelled if obj["metadata"].get("namespace") == metadata.get("namespace")]


def _out_of_reach(collection: Manifest) -> bool:
    conditions = items(collection, "status", "conditions")
    return any(c.get("type") == "Synced" and c.get("status") == "False" for c in conditions)


def _selects(collection: Manifest, pod: Manifest) -> bool:
    observed = mapping(collection, "spec", "observeObjects")
    selector, labels = mapping(observed, "selector"), mapping(pod, "metadata", "labels")
    return (
        all(observed.get(field) == pod[field] for field in ("apiVersion", "kind"))
        and observed.get("namespace") in {None, "", pod["metadata"]["namespace"]}
        and mapping(selector, "matchLabels").items() <= labels.items()
        and all(_holds(expression, labels) for expression in items(selector, "matchExpressions"))
    )


def _holds(expression: Manifest, labels: Mapping[str, Any]) -> bool:
    """Tell whether an expression of a label selector holds (LabelSelectorRequirement of meta/v1)."""
    found, values = labels.get(str(expression.get("key"))), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
    return False


def _member(collection: Manifest, pod: Manifest) -> Tree:
    """Return the Object that provider-kubernetes makes of a pod for a collection."""
    metadata, observed = collection["metadata"], pod["metadata"]
    identity = f"/{pod['apiVersion']}, Kind={pod['kind']}/{observed['namespace']}/{observed['name']}"
    owner = {"apiVersion": collection["apiVersion"], "kind": collection["kind"], "name": metadata["name"]}
    named = {"name": observed["name"], "namespace": observed["namespace"]}
    return {
        "apiVersion": collection["apiVersion"],
        "kind": "Object",
        "metadata": {
            "name": f"{metadata['name']}-{hashlib.sha256(identity.encode()).hexdigest()[:7]}",
            "namespace": metadata.get("namespace"),
            "labels": {
                **mapping(collection, "spec", "objectTemplate", "metadata", "labels"),
                _MEMBER_OF: metadata["name"],
            },
            "ownerReferences": [{**owner, "uid": metadata["uid"]}],
        },
        "spec": {
            "managementPolicies": list(OBSERVE_ONLY),
            "forProvider": {"manifest": {"apiVersion": pod["apiVersion"], "kind": pod["kind"], "metadata": named}},
            "providerConfigRef": clone(child(collection, "spec", "providerConfigRef")),
        },
    }


def _status(store: Store, key: Key, pod: Manifest) -> Tree:
    before = store.peek(key) or {"metadata": {"generation": 1}}
    conditions = [
        condition_of(before, store.now, "Ready", "True", "Available"),
        condition_of(before, store.now, "Synced", "True", "ReconcileSuccess"),
    ]
    return {"conditions": conditions, "atProvider": {"manifest": clone(pod)}}
