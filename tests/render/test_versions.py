"""The version that the Configuration's package states reaches the functions through the real engine."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from golden import read_documents
from modelplane import __version__
from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.packages import xpkg
from modelplane_dev.processes.functions import Functions
from modelplane_dev.rendering.composing import CrossplaneBinaries, render
from render.examples import DEPLOYMENTS
from render.reading import GOLDEN


@pytest.mark.parametrize(("version", "status", "replicas"), [(__version__, "True", 3), ("9.9.9", "False", 0)])
def test_a_composition_of_another_version_places_nothing_and_the_deployment_says_so(
    version: str, status: str, replicas: int, functions: Functions
) -> None:
    composition = yaml.safe_load((ROOT / "compositions" / "modeldeployment.yaml").read_text())
    binaries = CrossplaneBinaries(cli=components.path("crossplane"), core=components.path("crossplane-core"))
    deployment, others = DEPLOYMENTS["qwen3-8b"], read_documents(GOLDEN / "fleet.yaml")
    done = render(deployment, functions, binaries, others=others, composition=xpkg.with_version(composition, version))
    assert done.returncode == 0, done.stderr
    found = list(yaml.safe_load_all(done.stdout))
    (composite,) = [each for each in found if each["kind"] == "ModelDeployment"]
    said = {each["type"]: each["status"] for each in composite["status"]["conditions"]}
    assert said["VersionsMatch"] == status
    assert sum(each["kind"] == "ModelReplica" for each in found) == replicas


def test_the_package_states_the_version_of_the_tree_to_every_step() -> None:
    for file in sorted((ROOT / "compositions").glob("*.yaml")):
        stated = xpkg.with_version(yaml.safe_load(file.read_text()))
        inputs: list[dict[str, Any]] = [step["input"] for step in stated["spec"]["pipeline"]]
        assert {each["version"] for each in inputs} == {__version__}


def test_the_configuration_is_built_with_the_version_in_it(tmp_path: Path) -> None:
    file = xpkg.build_configuration(tmp_path / "modelplane.xpkg")
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    subprocess.run(["tar", "-xf", str(file), "-C", str(unpacked)], check=True)
    layers = [each for each in unpacked.iterdir() if each.name.endswith(".tar.gz")]
    contents = [subprocess.run(["tar", "-xzOf", str(each)], capture_output=True, check=True).stdout for each in layers]
    assert sum(content.count(b"kind: StepInput") for content in contents) >= len(
        list((ROOT / "compositions").iterdir())
    )
