"""Small composites and pipelines of a few lines each, in place of the product's own."""

from collections.abc import Mapping
from typing import Any

from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline
from modelplane.preview.store import View
from modelplane.step import Desired, Request, Result, Step

TEAM = "team"


def endpoint(name: str = "e", **metadata: Any) -> dict[str, Any]:
    """Return the smallest namespaced composite of ours."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelEndpoint",
        "metadata": {"name": name, "namespace": TEAM, **metadata},
        "spec": {"url": "http://example.org"},
    }


def inference_class(name: str = "k", **metadata: Any) -> dict[str, Any]:
    """Return the smallest cluster-scoped composite of ours."""
    device = {"name": "gpu", "driver": "gpu.example.org", "deviceClassName": "gpu.example.org"}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": name, **metadata},
        "spec": {"devices": [device]},
    }


def config_map(name: str | None = "c", data: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """Return a ConfigMap in the team's namespace; without a name, one that Crossplane has to name."""
    named = {"name": name} if name else {}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**named, "namespace": TEAM, **metadata},
        "data": dict(data or {}),
    }


def plane(*objects: Any, world: Any = None, **pipelines: tuple[Step, ...] | Step) -> ControlPlane:
    """Return a control plane in which only the given kinds have pipelines, of the given steps."""
    known = {}
    for kind, given in pipelines.items():
        steps = given if isinstance(given, tuple) else (given,)
        named = tuple((f"step-{number}", step) for number, step in enumerate(steps, 1))
        known[f"{kind}.modelplane.ai"] = Pipeline(kind.lower(), named)
    return ControlPlane(objects, world, known.get)


def composing(**manifests: dict[str, Any]) -> Step:
    """Return a step that wants these resources, all ready, by composition resource name."""

    def step(_: Request) -> Result:
        return Result(desired={name: Desired.of(manifest, ready=True) for name, manifest in manifests.items()})

    return step


def existing(reader: ControlPlane | View, kind: str, namespace: str | None, name: str) -> dict[str, Any]:
    """Return an object that has to be there."""
    found = reader.get(kind, namespace, name)
    assert found is not None, f"there is no {kind} {name}"
    return found


def conditions_of(obj: Mapping[str, Any] | None) -> dict[str, tuple[str, str, str]]:
    """Return an object's conditions: type to status, reason and message."""
    assert obj is not None
    conditions = obj["status"]["conditions"]
    return {c["type"]: (c["status"], c["reason"], c.get("message", "")) for c in conditions}
