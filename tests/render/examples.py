"""The examples, and the preview's control plane walked pass by pass beside the real engine."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from modelplane.preview import ControlPlane
from modelplane.reading.definitions import compositions
from modelplane.reading.kinds import Key, key_of
from modelplane_dev.folders import ROOT
from modelplane_dev.processes.functions import Functions
from render.outcome import of_preview, of_real
from render.real import Pipeline

Manifest = dict[str, Any]

FLEET = ("InferenceClass", "InferenceCluster", "ModelCache")
#: What a deployment leads to, in the order of a round.
SERVING = ("ModelDeployment", "ModelReplica")
#: Rounds that an example may take to come to rest.
ROUNDS = 12


def documents(folder: Path) -> Iterator[Manifest]:
    """Yield the objects in the files of a folder."""
    for file in sorted(folder.rglob("*.yaml")):
        yield from (each for each in yaml.safe_load_all(file.read_text()) if each)


#: The catalogue is not among them: it has a fleet of its own.
FOLDERS = ("caches", "deployments", "fleet")
EXAMPLES = tuple(each for folder in FOLDERS for each in documents(ROOT / "examples" / folder))
#: The deployments of the examples, by name.
DEPLOYMENTS = {each["metadata"]["name"]: each for each in EXAMPLES if each["kind"] == "ModelDeployment"}


def fleet() -> ControlPlane:
    """Return a control plane that holds the examples without their deployments, new."""
    return ControlPlane(each for each in EXAMPLES if each["kind"] != "ModelDeployment")


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
    kinds = tuple(sorted(before.extra_kinds))
    real = of_real(before, key, pipeline_of(key.kind.partition(".")[0], functions), kinds)
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
