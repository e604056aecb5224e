"""The statuses that providers write when their credentials, charts and clusters work.

An object whose status was given is left unchanged. An edit of an Object's manifest makes it not ready at once, and
ready again in the next pass.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from modelplane.preview.simulation.clusters import left_by_rollout, status_on_cluster, status_while_starting
from modelplane.preview.simulation.stacks import ABSENT, is_absent_part, is_absent_release
from modelplane.preview.store import View
from modelplane.reading.kinds import key_of, qualify
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping

#: The status of an object: kind (`Kind.group`), namespace, name, and a JSON merge patch.
StatusPatch = tuple[str, str | None, str, Manifest]

OBJECT = "Object.kubernetes.m.crossplane.io"
COLLECTION = "ObservedObjectCollection.kubernetes.m.crossplane.io"
RELEASE = "Release.helm.m.crossplane.io"

#: Metadata that only a cluster writes.
_OF_SERVER = ("uid", "generation", "creationTimestamp")


def answers(view: View) -> Iterator[StatusPatch]:
    """Yield the status of every object of a provider that has no healthy status for its present generation."""
    releases = list(view.scan(RELEASE))
    for kind, answer in _ANSWERS.items():
        for obj in simulated(view, kind):
            if _is_absent(view, obj, kind, releases):
                yield patch_of(obj, {"conditions": [_absence(obj, view.now)]})
            elif not is_healthy(obj):
                yield patch_of(obj, answer(obj, view.now))


def _is_absent(view: View, obj: Manifest, kind: str, releases: Sequence[Manifest]) -> bool:
    """Tell whether what an object of a ServingStack only observes does not exist on the cluster."""
    if kind == RELEASE:
        return is_absent_release(obj)
    return kind == OBJECT and is_absent_part(view, obj, releases)


def _absence(obj: Manifest, now: str) -> Tree:
    return condition_of(obj, now, "Synced", "False", "ReconcileError", message=ABSENT)


def simulated(view: View, kind: str) -> Iterator[Manifest]:
    """Yield the objects of a kind (`Kind.group`) that are not being deleted and whose status was not given."""
    for obj in view.scan(kind):
        if not obj["metadata"].get("deletionTimestamp") and key_of(obj) not in view.pinned:
            yield obj


def patch_of(obj: Manifest, status: Manifest) -> StatusPatch:
    """Return the merge patch of an object's status."""
    metadata = obj["metadata"]
    return qualify(obj["apiVersion"], obj["kind"]), metadata.get("namespace"), metadata["name"], status


def cluster_of(obj: Manifest) -> str:
    """Return the cluster of a provider's object: the name of its provider config."""
    return str(child(obj, "spec", "providerConfigRef", "name") or "")


def starting(obj: Manifest, now: str, message: str = "") -> Tree:
    """Return the status of an Object that is applied, whose pods start; `message` is of Ready.

    None of them is available yet, but for those that a rollout has not changed yet.
    """
    conditions = [
        condition_of(obj, now, "Ready", "False", "Creating", message=message),
        condition_of(obj, now, "Synced", "True", "ReconcileSuccess"),
    ]
    before, edited = mapping(obj, "status", "atProvider", "manifest", "status"), is_edited(obj)

    def status_of(held: Manifest, cluster: str) -> Tree | None:
        return status_while_starting(held, cluster, left_by_rollout(held, before, edited=edited))

    return _with_manifest(obj, conditions, status_of)


def condition_of(  # noqa: PLR0913 - the fields of a condition
    obj: Manifest, now: str, kind: str, status: str, reason: str, *, message: str = ""
) -> Tree:
    """Return a condition for an object's present generation; its time changes only with its status."""
    before: Manifest = next((c for c in items(obj, "status", "conditions") if c.get("type") == kind), {})
    same = before.get("status") == status
    made = {
        "type": kind,
        "status": status,
        "reason": reason,
        "observedGeneration": obj["metadata"]["generation"],
        "lastTransitionTime": (before.get("lastTransitionTime") if same else now) or now,
    }
    return {**made, "message": message} if message else made


def is_healthy(obj: Manifest) -> bool:
    """Tell whether every condition of an object is True, for its present generation, and there is one."""
    found = list(items(obj, "status", "conditions"))
    generation = obj["metadata"]["generation"]
    return bool(found) and all(c.get("observedGeneration") == generation and c.get("status") == "True" for c in found)


def _connection(obj: Manifest, now: str) -> Tree:
    return {"conditions": [condition_of(obj, now, "Ready", "True", "Available")]}


def _collection(obj: Manifest, now: str) -> Tree:
    synced = condition_of(obj, now, "Synced", "True", "ReconcileSuccess")
    return {"conditions": [*_connection(obj, now)["conditions"], synced]}


def _release(obj: Manifest, now: str) -> Tree:
    version = child(obj, "spec", "forProvider", "chart", "version")
    seen = {"state": "deployed", "revision": obj["metadata"]["generation"], "version": version}
    return {"atProvider": seen, **_collection(obj, now)}


def _object(obj: Manifest, now: str) -> Tree:
    """Return an Object's status as a merge patch that leaves nothing of a manifest's previous version."""
    if is_edited(obj):
        return starting(obj, now)
    return _with_manifest(obj, _collection(obj, now)["conditions"], status_on_cluster)


def _with_manifest(obj: Manifest, conditions: list[Tree], status_of: Callable[[Manifest, str], Tree | None]) -> Tree:
    status: Tree = {"conditions": conditions}
    manifest = mapping(obj, "spec", "forProvider", "manifest")
    if manifest:
        held = _on_cluster(obj, manifest)
        found = status_of(held, cluster_of(obj))
        seen = {"manifest": {**held, "status": found} if found else held}
        status["atProvider"] = _replacing(child(obj, "status", "atProvider"), seen)
    return status


def is_edited(obj: Manifest) -> bool:
    """Tell whether an Object's manifest differs from what is on its cluster."""
    there = mapping(obj, "status", "atProvider", "manifest")
    wanted = mapping(obj, "spec", "forProvider", "manifest")
    return bool(there and wanted) and _content(there) != _content(_on_cluster(obj, wanted))


def _content(held: Manifest) -> Tree:
    """Return a manifest on a cluster without what the cluster itself adds."""
    metadata = {key: value for key, value in mapping(held, "metadata").items() if key not in _OF_SERVER}
    return {**{key: value for key, value in held.items() if key != "status"}, "metadata": metadata}


def _on_cluster(obj: Manifest, manifest: Manifest) -> Tree:
    """Return a manifest as its cluster holds it: versioned, without a status and without a Secret's data."""
    held: Tree = {k: clone(v) for k, v in manifest.items() if k not in {"data", "stringData", "status"}}
    if manifest.get("kind") != "Secret" and "data" in manifest:
        held["data"] = clone(manifest["data"])
    of_server = {field: obj["metadata"][field] for field in _OF_SERVER}
    held["metadata"] = {**mapping(held, "metadata"), **of_server}
    return held


def _replacing(old: object, new: Tree) -> Tree:
    """Return the merge patch that turns `old` into `new`."""
    if not isinstance(old, dict):
        return new
    patch: Tree = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        patch[key] = _replacing(old.get(key), value) if isinstance(value, dict) else value
    return patch


_ANSWERS: Mapping[str, Callable[[Manifest, str], Tree]] = MappingProxyType(
    {
        "ClusterProviderConfig.helm.m.crossplane.io": _connection,
        "ClusterProviderConfig.kubernetes.m.crossplane.io": _connection,
        OBJECT: _object,
        COLLECTION: _collection,
        RELEASE: _release,
    }
)
