"""provider-kubernetes: every Object's manifest is on its cluster, and the cluster answers as a healthy one does."""

from collections.abc import Iterator

from modelplane.preview.store import View
from modelplane.preview.tree import Manifest, Tree, child, clone, mapping
from modelplane.preview.world.managed import in_order, untold
from modelplane.preview.world.remote import answer

KIND = "Object.kubernetes.m.crossplane.io"
COLLECTION = "ObservedObjectCollection.kubernetes.m.crossplane.io"


def play(view: View) -> Iterator[tuple[str, str | None, str, Manifest]]:
    """Yield Ready, Synced and what the cluster holds for every Object; Ready for every collection."""
    for obj in untold(view, KIND):
        yield KIND, obj["metadata"].get("namespace"), obj["metadata"]["name"], _status(obj)
    for obj in untold(view, COLLECTION):
        told = {"conditions": in_order(obj, Ready="Available", Synced="ReconcileSuccess")}
        yield COLLECTION, obj["metadata"].get("namespace"), obj["metadata"]["name"], told


def _status(obj: Manifest) -> Tree:
    """Return an Object's status. A merge patch: where the manifest changed, the old one must not shine through."""
    told: Tree = {"conditions": in_order(obj, Ready="Available", Synced="ReconcileSuccess")}
    manifest = mapping(obj, "spec", "forProvider", "manifest")
    if manifest:
        told["atProvider"] = _instead(child(obj, "status", "atProvider"), {"manifest": _held(obj, manifest)})
    return told


def _held(obj: Manifest, manifest: Manifest) -> Tree:
    """Return the manifest as its cluster holds it: versioned, with the status of a healthy one, no Secret's data."""
    metadata = obj["metadata"]
    cluster = str(child(obj, "spec", "providerConfigRef", "name") or "")
    held: Tree = {k: clone(v) for k, v in manifest.items() if k not in {"data", "stringData", "status"}}
    if manifest.get("kind") != "Secret" and "data" in manifest:
        held["data"] = clone(manifest["data"])
    held["metadata"] = {
        **mapping(held, "metadata"),
        "uid": metadata["uid"],
        "generation": metadata["generation"],
        "creationTimestamp": metadata["creationTimestamp"],
    }
    status = answer(held, cluster)
    return {**held, "status": status} if status else held


def _instead(old: object, new: Tree) -> Tree:
    """Return the merge patch that turns `old` into `new`."""
    if not isinstance(old, dict):
        return new
    patch: Tree = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        patch[key] = _instead(old.get(key), value) if isinstance(value, dict) else value
    return patch
