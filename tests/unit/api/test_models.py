"""The generated models: as the XRDs are now, readable on their own, and indifferent to what they do not know."""

import subprocess
import sys
from pathlib import Path

import pytest

from modelplane.api.inferencecluster import InferenceCluster
from modelplane.api.modeldeployment import ModelDeployment
from modelplane.preview.admission import admit
from modelplane.reading.definitions import CHECKOUT, xrds
from unit.api.cases import read_cases

MODELS = CHECKOUT / "functions" / "modelplane" / "api"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.py")}


def test_the_models_are_those_of_the_definitions(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "modelplane_dev.generate", tmp_path], check=True)
    assert contents(tmp_path) == contents(MODELS), "run `make generate`"


@pytest.mark.parametrize("kind", xrds())
def test_a_model_is_imported_without_the_others(kind: str) -> None:
    script = (
        f"import sys, modelplane.api.{kind.lower()}; "
        "print(*sorted(m for m in sys.modules if m.startswith('modelplane.api.')))"
    )
    environment = {"PYTHONPATH": str(CHECKOUT / "functions")}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [f"modelplane.api.{kind.lower()}"]


def test_what_a_server_defaults_has_a_value_without_one() -> None:
    example = next(case.accepted for case in read_cases() if case.kind == "ModelDeployment")
    read = ModelDeployment.model_validate(example)
    engine, *_ = read.spec.engines or []
    assert (read.spec.replicas, engine.copies) == (1, 1)
    assert engine.members[0].role == "Standalone"
    assert ModelDeployment.model_validate(admit(example)) == read


def test_unknown_fields_do_not_hinder_reading() -> None:
    cluster = {
        "metadata": {"name": "eu-1", "managedFields": []},
        "spec": {"cluster": {"source": "Existing", "later": 1}, "crossplane": {"resourceRefs": []}},
        "status": {"gpuPools": [{"name": "h200", "nodes": 2, "later": {}}]},
    }
    read = InferenceCluster.model_validate(cluster)
    assert read.status is not None
    assert [(pool.name, pool.nodes) for pool in read.status.gpuPools or ()] == [("h200", 2)]
