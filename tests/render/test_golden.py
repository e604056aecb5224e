"""What `crossplane composition render` prints for each deployment of the examples, beside what a reviewer has read.

Each pair is the example that is called NAME and golden/NAME.yaml; all stand on the fleet in golden/fleet.yaml.
`make golden` rewrites them: read the difference before committing it.
"""

from typing import Any

import pytest

from golden import Golden
from modelplane_dev.processes.functions import Functions
from render.examples import DEPLOYMENTS, fleet
from render.reading import GOLDEN, first_pass

#: What of the fleet decides a placement.
DECIDING = ("InferenceCluster", "ModelCache")


@pytest.fixture(scope="module")
def published() -> list[dict[str, Any]]:
    """Return the fleet of the examples as it publishes itself, without what the server and Crossplane keep on it."""
    plane = fleet()
    assert plane.settle()
    return [_published(obj) for kind in DECIDING for obj in plane.list(kind)]


def _published(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: obj["metadata"][name] for name in ("name", "namespace", "labels") if name in obj["metadata"]}
    spec = {name: value for name, value in obj["spec"].items() if name != "crossplane"}
    status = {**obj.get("status", {})}
    status["conditions"] = [
        {name: each[name] for name in ("type", "status", "reason")} for each in status["conditions"]
    ]
    return {**obj, "metadata": metadata, "spec": spec, "status": status}


def test_the_fleet_publishes_what_was_read(published: list[dict[str, Any]], golden: Golden) -> None:
    golden.compare_documents(GOLDEN / "fleet.yaml", published)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_renders_as_it_was_read(
    name: str, published: list[dict[str, Any]], functions: Functions, golden: Golden
) -> None:
    golden.compare_text(GOLDEN / f"{name}.yaml", first_pass(DEPLOYMENTS[name], published, functions))


def test_there_is_no_golden_without_an_example() -> None:
    assert {file.stem for file in GOLDEN.glob("*.yaml")} == {"fleet", *DEPLOYMENTS}
