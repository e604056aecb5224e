"""The manifests of examples/engines are what a real API server takes, and so is what they compose."""

import pytest
import yaml

from apiserver.server import Server
from modelplane_dev.plane.engines import DOCUMENTED
from unit.preview.test_engines import FOLDER, composed


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_manifest_of_an_engine_and_what_it_composes_are_taken(server: Server, name: str) -> None:
    (deployment,) = yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text())
    # The server has the namespace of another team.
    team = {"ml": "ml", "mp-ml": "mp-ml-team"}
    given = (deployment, *composed(name).values())
    manifests = {
        each["kind"]: {**each, "metadata": {**each["metadata"], "namespace": team[each["metadata"]["namespace"]]}}
        for each in given
        if each["metadata"].get("namespace") in team
    }
    assert {"ModelDeployment", "Deployment", "Service", "HTTPRoute", "ResourceClaimTemplate"} <= manifests.keys()
    refused = {kind: server.refusal(manifest) for kind, manifest in manifests.items()}
    assert {kind: words for kind, words in refused.items() if words} == {}
