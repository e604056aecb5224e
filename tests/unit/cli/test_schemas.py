"""What commands print as JSON is what their schemas say, and nothing besides."""

import json
from importlib import resources
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import failing
from unit.cli.test_get import SERVICE

CACHE = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelCache",
    "metadata": {"name": "weights", "namespace": "team"},
    "spec": {"source": "HuggingFace", "huggingFace": {"repo": "example/model", "sizeGiB": 10}},
}
#: Commands, and the names of their schemas.
COMMANDS = {
    "get": ("fleet", ("get", "--objects")),
    "why": ("why", ("why", "team/chat")),
    "tree": ("tree", ("tree", "team/chat")),
    "capacity": ("capacity", ("capacity",)),
    "capacity of a shape": ("capacity", ("capacity", "--gpus", "8")),
    "check": ("check", ("check",)),
    "plan": ("plan", ("plan", "--set", "team/chat.replicas=4")),
    "drain": ("plan", ("drain", "east")),
    "preview": ("preview", ("preview",)),
}


def schema(name: str) -> Any:
    """Return a schema of the package that allows no field which it does not name."""
    file = resources.files("modelplane.reading") / "schemas" / f"{name}.v1alpha1.json"
    return strict(json.loads(file.read_text()))


def strict(node: Any) -> Any:
    if isinstance(node, list):
        return [strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    closed = {"additionalProperties": False} if "properties" in node and "type" in node else {}
    return {**closed, **{key: strict(value) for key, value in node.items()}}


@pytest.fixture(scope="module")
def export() -> str:
    objects = [hardware(), cluster("east"), cluster("west"), deployment(replicas=3), SERVICE, CACHE]
    control = ControlPlane(objects, world=failing(lambda _: "broken"))
    assert control.settle()
    return json.dumps({"kind": "List", "items": control.everything()})


@pytest.mark.parametrize(("name", "arguments"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("output", ["json"])
def test_what_a_command_prints_is_what_its_schema_says(
    export: str, name: str, arguments: tuple[str, ...], output: str
) -> None:
    done = CliRunner().invoke(main, [*arguments, "--from", "-", "-o", output], input=export)
    found = json.loads(done.stdout)
    assert [str(each) for each in jsonschema_rs.Draft202012Validator(schema(name)).iter_errors(found)] == []
    assert found["apiVersion"] == f"{name}.modelplane.ai/v1alpha1"


def test_a_field_that_a_schema_does_not_name_is_found() -> None:
    found = {"apiVersion": "check.modelplane.ai/v1alpha1", "version": "1", "findings": [], "more": 1}
    assert not jsonschema_rs.Draft202012Validator(schema("check")).is_valid(found)
