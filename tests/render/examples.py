"""The examples, and the preview's control plane walked pass by pass beside the real engine."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

import engines
from modelplane.preview import ControlPlane
from modelplane.preview.definitions import compositions
from modelplane.preview.kinds import Key, key_of
from processes import Functions
from render.outcome import of_preview, of_real
from render.real import Pipeline

Manifest = dict[str, Any]

EXAMPLES = engines.ROOT / "examples"
DEPLOYMENTS = sorted((EXAMPLES / "deployments").glob("*.yaml"))
FLEET = ("InferenceClass", "InferenceCluster")
#: What a deployment leads to, in the order of a round.
SERVING = ("ModelDeployment", "ModelReplica")
#: Rounds that an example may take to come to rest.
ROUNDS = 12


def documents(*paths: Path) -> Iterator[Manifest]:
    """Yield the objects in files and folders."""
    for path in paths:
        for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
            yield from (each for each in yaml.safe_load_all(file.read_text()) if each)


def fleet() -> ControlPlane:
    """Return a control plane that holds the examples' fleet and caches, at rest."""
    plane = ControlPlane(documents(EXAMPLES / "fleet", EXAMPLES / "caches"))
    assert plane.settle()
    return plane


def settle_both(plane: ControlPlane, kinds: Sequence[str], functions: Functions) -> int:
    """Reconcile every composite of some kinds until a round changes nothing; return how many passes that took.

    Asserts that each pass comes to the same in the preview and in the real engine.
    """
    passes = 0
    for _ in range(ROUNDS):
        before = content(plane)
        for kind in kinds:
            for composite in plane.list(kind):
                pass_both(plane, key_of(composite), functions)
                passes += 1
        if content(plane) == before:
            return passes
    raise AssertionError(f"not at rest after {ROUNDS} rounds")


def pass_both(plane: ControlPlane, key: Key, functions: Functions) -> None:
    """Make one pass of a composite in the preview, and assert that the real engine comes to the same."""
    before = plane.view()
    real = of_real(before, key, pipeline_of(key.kind.partition(".")[0], functions))
    done = plane.reconcile(*key)
    assert done is not None
    assert of_preview(done, before, plane.view(), key) == real


def pipeline_of(kind: str, functions: Functions) -> Pipeline:
    """Return the pipeline of a kind of ours, its functions running."""
    composition = dict(compositions()[kind])
    names = [step["functionRef"]["name"] for step in composition["spec"]["pipeline"]]
    return Pipeline(composition, {name: functions.address(name) for name in names})


def content(plane: ControlPlane) -> list[Manifest]:
    """Return all objects without what every write changes."""
    volatile = {"resourceVersion", "generation"}
    return [
        {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name not in volatile}}
        for obj in plane.everything()
    ]
