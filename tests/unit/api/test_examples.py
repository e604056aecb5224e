"""Every manifest of examples/ is one that Crossplane and the preview accept, and a fleet to show something on."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.preview.admission import admit
from modelplane.reading.definitions import CHECKOUT
from modelplane_dev import components

EXAMPLES = CHECKOUT / "examples"
FILES = sorted(EXAMPLES.rglob("*.yaml"))
DOCUMENTS = [
    pytest.param(document, id=f"{path.relative_to(EXAMPLES)}-{document['metadata']['name']}")
    for path in FILES
    for document in yaml.safe_load_all(path.read_text())
]


def documents(folder: str, kind: str) -> list[Any]:
    paths = sorted((EXAMPLES / folder).glob("*.yaml"))
    return [obj for path in paths for obj in yaml.safe_load_all(path.read_text()) if obj["kind"] == kind]


def test_crossplane_validates_every_example(tmp_path: Path) -> None:
    command: list[str | Path] = [components.path("crossplane"), "resource", "validate", CHECKOUT / "apis", EXAMPLES]
    options = ["-o", "json", "--crossplane-image=", f"--cache-dir={tmp_path}", "--error-on-missing-schemas"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    report = json.loads(run.stdout)
    assert [entry for entry in report["resources"] if entry["status"] != "valid"] == []
    assert report["summary"]["total"] == len(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_preview_admits_every_example(document: Any) -> None:
    admit(document)


def test_the_fleet_has_clusters_to_choose_among() -> None:
    clusters = documents("fleet", "InferenceCluster")
    assert len(clusters) >= 6
    assert {cluster["metadata"]["labels"]["region"] for cluster in clusters} == {"eu", "us"}
    assert [cluster["metadata"]["name"] for cluster in clusters if cluster["spec"].get("taints")] == ["us-east-2"]


def test_every_pool_is_of_a_declared_class() -> None:
    classes = {item["metadata"]["name"] for item in documents("fleet", "InferenceClass")}
    pools = [pool for cluster in documents("fleet", "InferenceCluster") for pool in cluster["spec"]["nodePools"]]
    assert {pool["className"] for pool in pools} == classes


def test_images_are_pinned() -> None:
    deployments = documents("deployments", "ModelDeployment") + documents("caches", "ModelDeployment")
    containers = [
        container
        for deployment in deployments
        for engine in deployment["spec"]["engines"]
        for member in engine["members"]
        for container in member["template"]["spec"]["containers"]
    ]
    assert containers
    assert [c["image"] for c in containers if ":" not in c["image"] or c["image"].endswith(":latest")] == []
