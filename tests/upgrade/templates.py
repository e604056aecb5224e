"""Pod templates as digests, revision after revision: python -m upgrade.templates appends one when they changed."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from modelplane.kube.images import Image
from modelplane.preview import ControlPlane, View, healthy
from upgrade.manifests import Manifest
from upgrade.states import STATES, read_state

FILE = Path(__file__).with_name("templates.yaml")
RESOURCE = "crossplane.io/composition-resource-name"
#: What of a workload makes its pods, by kind: a change of it restarts them, or is refused because it cannot change.
_TEMPLATES = {
    "Deployment": ("selector", "template"),
    "Job": ("template",),
    "LeaderWorkerSet": ("leaderWorkerTemplate",),
}
#: States whose replicas and caches are composed anew, and what came into question after them.
SOURCES = ("topologies", "caches")
LATER = Path(__file__).with_name("later.yaml")
_INPUTS = frozenset({"InferenceClass", "InferenceCluster", "ModelCache", "ModelReplica", "Secret", "ConfigMap"})
_OBSERVED_ONLY = ["Observe"]


def templates(objects: Iterable[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    """Yield every Object that runs pods on a cluster, with what those are made from."""
    for obj in objects:
        if obj["kind"] != "Object" or obj["spec"].get("managementPolicies") == _OBSERVED_ONLY:
            continue
        manifest = obj["spec"]["forProvider"]["manifest"]
        fields = _TEMPLATES.get(manifest["kind"], ())
        if fields:
            yield obj, {field: manifest["spec"].get(field) for field in fields}


def workload_of(obj: Manifest) -> str:
    """Return what runs in an Object's workload: deployment, leaderworkerset, picker or job."""
    return str(obj["metadata"]["annotations"][RESOURCE]).partition("-")[0]


def digest(value: Any) -> str:
    """Return 12 hex digits over a value's JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def digests(objects: Iterable[Manifest]) -> dict[str, str]:
    """Return the digest of all pod templates of each deployment and cache, by its name."""
    return _digests(templates(objects))


def _digests(found: Iterable[tuple[Manifest, Manifest]]) -> dict[str, str]:
    parts: dict[str, dict[str, Manifest]] = {}
    for obj, template in found:
        owner = obj["metadata"]["ownerReferences"][0]
        name = owner["name"].rpartition("-")[0] if owner["kind"] == "ModelReplica" else f"cache-{owner['name']}"
        parts.setdefault(name, {})[f"{owner['name']}/{obj['metadata']['annotations'][RESOURCE]}"] = template
    return {name: digest(part) for name, part in sorted(parts.items())}


class _Recorder:
    """A healthy world that keeps every pod template which was ever composed: a Job's Object goes when it is done."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Manifest, Manifest]] = {}

    def __call__(self, view: View) -> Iterator[tuple[str, str | None, str, Any]]:
        self.found |= {obj["metadata"]["uid"]: (obj, template) for obj, template in templates(view.list("Object"))}
        return iter(healthy(view))


def _inputs(state: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield what the replicas and caches of a state are composed from; no deployment, nothing composed."""
    for obj in state:
        kept = {k: v for k, v in obj["metadata"].items() if k in {"name", "namespace", "uid", "labels", "annotations"}}
        if obj["kind"] in _INPUTS:
            spec = {"spec": {k: v for k, v in obj["spec"].items() if k != "crossplane"}} if "spec" in obj else {}
            rest = {k: v for k, v in obj.items() if k not in {"metadata", "spec", "status"}}
            yield {**rest, **spec, "metadata": kept}


def composed_today() -> dict[str, str]:
    """Return the digests of what today's code composes anew for the replicas and caches that version 0.1 left."""
    found: dict[str, str] = {}
    for path in (*(STATES / "v0.1.0" / f"{name}.yaml" for name in SOURCES), LATER):
        recorder = _Recorder()
        control = ControlPlane(_inputs(read_state(path)), world=recorder)
        assert control.settle()
        found |= _digests(recorder.found.values())
    return dict(sorted(found.items()))


def revisions() -> list[dict[str, str]]:
    """Return the recorded digests by topology, the oldest revision first."""
    recorded: list[dict[str, str]] = yaml.safe_load(FILE.read_text()) if FILE.exists() else []
    return recorded


def main() -> None:
    """Append a revision unless the last one says what is composed today, with the image that the tests name."""
    os.environ.setdefault(Image.MODELPLANE.variable, Image.MODELPLANE.default)
    recorded, today = revisions(), composed_today()
    if not recorded or recorded[-1] != today:
        FILE.write_text(yaml.safe_dump([*recorded, today]))
        print(f"revision {len(recorded) + 1}: {digest(today)}")  # noqa: T201 - a command


if __name__ == "__main__":
    main()
