"""The providers: what each writes to the status of its objects when its credentials, charts and clusters work.

An object that came with a status of its own is left alone; every other one is answered once for each generation.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from modelplane.preview.simulation.clusters import status_on_cluster
from modelplane.preview.store import View
from modelplane.reading.kinds import key_of
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping

#: The status of an object: kind, namespace, name, and a JSON merge patch.
StatusPatch = tuple[str, str | None, str, Manifest]

OBJECT = "Object.kubernetes.m.crossplane.io"


def answers(view: View) -> Iterator[StatusPatch]:
    """Yield the status of every object of a provider whose present generation is unanswered."""
    for kind, answer in _ANSWERS.items():
        for obj in unanswered(view, kind):
            yield kind, obj["metadata"].get("namespace"), obj["metadata"]["name"], answer(obj)


def simulated(view: View, kind: str) -> Iterator[Manifest]:
    """Yield the objects of a kind (`Kind.group`) that are not being deleted and came with no status of their own."""
    for obj in view.scan(kind):
        if not obj["metadata"].get("deletionTimestamp") and key_of(obj) not in view.pinned:
            yield obj


def unanswered(view: View, kind: str) -> Iterator[Manifest]:
    """Yield the simulated objects whose present generation has no answer yet."""
    for obj in simulated(view, kind):
        answered = [c.get("observedGeneration") for c in items(obj, "status", "conditions")]
        if not answered or any(generation != obj["metadata"]["generation"] for generation in answered):
            yield obj


def healthy_conditions(obj: Manifest, **reasons: str) -> list[Tree]:
    """Return True conditions, each given as type=reason; one that the object has keeps its transition time."""
    generation = obj["metadata"]["generation"]
    since = {str(c.get("type")): c.get("lastTransitionTime") for c in items(obj, "status", "conditions")}
    created = obj["metadata"]["creationTimestamp"]
    return [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "observedGeneration": generation,
            "lastTransitionTime": since.get(kind) or created,
        }
        for kind, reason in reasons.items()
    ]


def _connection(obj: Manifest) -> Tree:
    return {"conditions": healthy_conditions(obj, Ready="Available")}


def _collection(obj: Manifest) -> Tree:
    return {"conditions": healthy_conditions(obj, Ready="Available", Synced="ReconcileSuccess")}


def _release(obj: Manifest) -> Tree:
    return {"atProvider": {"state": "deployed", "revision": obj["metadata"]["generation"]}, **_collection(obj)}


def _object(obj: Manifest) -> Tree:
    """Return an Object's status. A merge patch: where the manifest changed, nothing of the old one may remain."""
    status = _collection(obj)
    manifest = mapping(obj, "spec", "forProvider", "manifest")
    if manifest:
        status["atProvider"] = _replacing(child(obj, "status", "atProvider"), {"manifest": _on_cluster(obj, manifest)})
    return status


def _on_cluster(obj: Manifest, manifest: Manifest) -> Tree:
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
    status = status_on_cluster(held, cluster)
    return {**held, "status": status} if status else held


def _replacing(old: object, new: Tree) -> Tree:
    """Return the merge patch that turns `old` into `new`."""
    if not isinstance(old, dict):
        return new
    patch: Tree = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        patch[key] = _replacing(old.get(key), value) if isinstance(value, dict) else value
    return patch


_ANSWERS: Mapping[str, Callable[[Manifest], Tree]] = MappingProxyType(
    {
        "ClusterProviderConfig.helm.m.crossplane.io": _connection,
        "ClusterProviderConfig.kubernetes.m.crossplane.io": _connection,
        OBJECT: _object,
        "ObservedObjectCollection.kubernetes.m.crossplane.io": _collection,
        "Release.helm.m.crossplane.io": _release,
    }
)
