"""What install/observe has, on the real API server."""

from typing import Any

import pytest
import yaml

from apiserver.server import Server
from modelplane.kube.images import Image
from modelplane.model.names import EJECTIONS
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.cluster import namespace

FOLDER = ROOT / "install/observe"
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((FOLDER / "observe.yaml").read_text()))


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: f"{each['kind']} {each['metadata']['namespace']}")
def test_what_the_process_needs_is_taken(server: Server, manifest: dict[str, Any]) -> None:
    server.cluster.api.apply(namespace(manifest["metadata"]["namespace"]))
    assert server.refusal(manifest) == ""


def test_its_image_is_that_of_this_version_and_its_only_right_to_write_is_one_config_map() -> None:
    (image,) = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["images"]
    assert f"{image['name']}:{image['newTag']}" == Image.MODELPLANE.value[1]
    rules = [rule for each in MANIFESTS if each["kind"] == "Role" for rule in each["rules"]]
    writing = [rule for rule in rules if not {*rule["verbs"]} <= {"get", "list", "watch"}]
    assert [(rule["resources"], rule["resourceNames"], rule["verbs"]) for rule in writing] == [
        (["configmaps"], [EJECTIONS], ["patch"])
    ]
