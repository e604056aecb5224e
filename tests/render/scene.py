"""Small scenes: a composite, a pipeline of test functions, and passes that both the preview and the engine make."""

import sys
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelplane.preview import pipelines
from modelplane.preview.deletion import Deletions
from modelplane.preview.reconciler import Reconciler
from modelplane.preview.store import Store
from modelplane.reading.kinds import key_of
from modelplane_dev.processes.functions import Functions
from render.outcome import PassOutcome, of_preview, of_real
from render.real import Pipeline
from render.steps import STEPS

Manifest = dict[str, Any]
SERVER = Path(__file__).with_name("serve_step.py")


def serve_command(name: str, address: str) -> list[str]:
    """Return the command that serves one of the small test functions."""
    return [sys.executable, str(SERVER), name, address]


def model_cache(annotation: str = "", **metadata: Any) -> Manifest:
    """Return a namespaced composite: a ModelCache in the namespace `team`, annotated with what its steps shall do."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "cache", "namespace": "team", "annotations": {"test/do": annotation}, **metadata},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "sizeGiB": 40}},
    }


def inference_class() -> Manifest:
    """Return a cluster-scoped composite: an InferenceClass."""
    device = {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 8}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": "class"},
        "spec": {"devices": [device]},
    }


@dataclass(slots=True)
class Scene:
    """A composite whose pipeline is `steps`, beside `others`, and what both engines make of pass after pass."""

    functions: Functions
    steps: tuple[str, ...]
    composite: Manifest
    others: Iterable[Manifest] = ()
    store: Store = field(default_factory=Store)

    def __post_init__(self) -> None:
        """Store everything."""
        for obj in (self.composite, *self.others):
            self.store.write(deepcopy(obj))

    def annotate(self, annotation: str) -> None:
        """Tell the steps what to do in the next pass."""
        composite = self.store.peek(key_of(self.composite))
        assert composite is not None
        metadata = composite["metadata"]
        annotations = {**metadata.get("annotations", {}), "test/do": annotation}
        self.store.write({**composite, "metadata": {**metadata, "annotations": annotations}})

    def pass_both(self) -> tuple[PassOutcome, PassOutcome]:
        """Return what the next pass comes to in the preview and in the real engine, from the same state."""
        key = key_of(self.composite)
        before = self.store.view()
        real = of_real(before, key, Pipeline(self._composition(), self._addresses()))
        done = self._reconciler().reconcile(key, self.store)
        assert done is not None
        return of_preview(done, before, self.store.view(), key), real

    def _reconciler(self) -> Reconciler:
        pipeline = pipelines.Pipeline("scene", tuple((name, STEPS[name]) for name in self.steps))
        return Reconciler(self.store, Deletions(self.store), lambda _: pipeline)

    def _composition(self) -> Manifest:
        of: Mapping[str, Any] = self.composite
        return {
            "apiVersion": "apiextensions.crossplane.io/v1",
            "kind": "Composition",
            "metadata": {"name": "scene"},
            "spec": {
                "compositeTypeRef": {"apiVersion": of["apiVersion"], "kind": of["kind"]},
                "mode": "Pipeline",
                "pipeline": [{"step": name, "functionRef": {"name": name}} for name in self.steps],
            },
        }

    def _addresses(self) -> dict[str, str]:
        return {name: self.functions.address(name) for name in self.steps}
