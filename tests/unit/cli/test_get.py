"""`modelplane get`: the fleet of an export as tables and JSON, and what it says of bad input."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from rich.console import Console

from given.manifests import cluster, deployment, hardware
from golden import Golden
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.reading.export import Export
from modelplane.reading.fleet import read_fleet
from modelplane.reading.fleet_tables import show_fleet
from modelplane.reading.manifests import read_manifests

Manifest = dict[str, Any]
HERE = Path(__file__).parent
SERVICE: Manifest = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelService",
    "metadata": {"name": "chat", "namespace": "team"},
    "spec": {"endpoints": [{"selector": {"matchLabels": {"modelplane.ai/deployment": "chat"}}}]},
}


def exported(*objects: Manifest) -> list[Manifest]:
    """Return what kubectl exports of a settled fleet."""
    control = ControlPlane(objects)
    assert control.settle()
    return [obj for obj in control.everything() if obj["apiVersion"] == "modelplane.ai/v1alpha1"]


def get(objects: Iterable[Manifest], *options: str) -> Result:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return CliRunner().invoke(main, ["get", "-f", "-", *options], input=json.dumps(listed))


def as_json(objects: Iterable[Manifest]) -> Manifest:
    done = get(objects, "-o", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    found: Manifest = json.loads(done.stdout)
    return found


def export_of_all_states() -> list[Manifest]:
    """Return a fleet on which something is full, tainted, not Ready, stranded, unplaced and unknown."""
    far = cluster("a-cluster-with-a-very-long-name-in-a-region-far-away", nodes=2)
    tainted = cluster("tainted", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    objects = exported(
        hardware(), cluster("east"), far, tainted, deployment("chat", 3, 6), deployment("big", 9), SERVICE
    )
    broken = cluster("broken")
    conditions = [
        {"type": "ClusterReady", "status": "False", "reason": "Unreachable", "message": "dial tcp: \x1b[2J timeout"}
    ]
    return [*objects, {**broken, "status": {"conditions": conditions}}]


@pytest.mark.parametrize("width", [80, 120])
def test_the_tables_break_no_name(width: int, golden: Golden) -> None:
    text = json.dumps({"kind": "List", "items": export_of_all_states()})
    fleet = read_fleet(Export(read_manifests(["-"], io.StringIO(text))), "2026-01-01T00:00:00Z")
    console = Console(file=io.StringIO(), width=width, highlight=False)
    with console.capture() as captured:
        show_fleet(console, fleet)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    golden.compare_text(HERE / f"get.{width}.txt", "\n".join(lines) + "\n")
    text, long = captured.get(), "a-cluster-with-a-very-long-name-in-a-region-far-away"
    assert text.count(long) == text.count("a-cluster-with") - text.count("chat-a-cluster-with") == 3
    assert "\x1b" not in text


def test_devices_that_are_free_in_no_whole_node_are_stranded() -> None:
    (east,) = as_json(exported(hardware(), cluster("east", nodes=3), deployment(gpus=6)))["clusters"]
    assert (east["name"], east["state"], east["replicas"]) == ("east", "Ready", 1)
    devices = {"gpu": {"total": 24, "claimed": 6, "free": 18, "stranded": 2}}
    holders = ["team/chat-east-0-f9443778"]
    assert east["pools"] == [{"name": "pool", "nodes": 3, "nodesFree": 2, "devices": devices, "holders": holders}]


def test_the_json_has_the_deployments_of_the_preview_and_what_services_publish() -> None:
    published = {"url": "https://ai.example.org/team/chat/v1", "keys": "open", "endpoints": {"ready": 1, "total": 2}}
    service = {**SERVICE, "status": {"conditions": [{"type": "Ready", "status": "True"}], **published}}
    objects = [*exported(hardware(), cluster("east"), deployment(replicas=2)), service]
    found = as_json(objects)
    done = CliRunner().invoke(main, ["preview", "-", "-o", "json"], input=yaml.safe_dump_all([*objects[:-1], SERVICE]))
    assert list(found) == ["apiVersion", "asOf", "clusters", "deployments", "services", "caches", "gateways", "unknown"]
    assert found["apiVersion"] == "fleet.modelplane.ai/v1alpha1"
    assert found["deployments"] == json.loads(done.stdout)["deployments"]
    assert found["deployments"][0]["unplaced"] == 1
    assert found["services"] == [{"namespace": "team", "name": "chat", "state": "Ready", "message": "", **published}]
    assert found["unknown"] == []


def test_of_an_object_that_occurs_twice_the_last_one_counts() -> None:
    first, last = cluster("east"), cluster("east")
    status = {"conditions": [{"type": "Ready", "status": "True"}], "gateway": {"address": "1.2.3.4"}}
    found = as_json([first, {**last, "status": status}])
    assert [(each["name"], each["state"]) for each in found["clusters"]] == [("east", "Ready")]


def test_yaml_says_the_same_as_json() -> None:
    objects = exported(hardware(), cluster("east"), deployment())
    shown = [{**found, "asOf": ""} for found in (as_json(objects), yaml.safe_load(get(objects, "-o", "yaml").stdout))]
    assert shown[0] == shown[1]


def test_the_room_of_clusters_alone_is_that_of_their_replicas() -> None:
    objects = exported(hardware(), cluster("east"), cluster("west", nodes=2), deployment("chat", 3, 3))
    full, clusters = as_json(objects), as_json(each for each in objects if each["kind"] == "InferenceCluster")
    assert clusters["clusters"] == full["clusters"]
    assert [pool["nodesFree"] for each in full["clusters"] for pool in each["pools"]] == [0, 0]
    said = (
        "Not in the input: 1 of 1 ModelReplica on east, 2 of 2 on west; they take what their clusters publish of them"
    )
    assert (full["unknown"], clusters["unknown"]) == ([], [said])


#: The status of a cluster (its conditions and the rest), and its state.
STATES: dict[str, tuple[Manifest, str]] = {
    "nothing": ({}, "NotReady"),
    "not Ready": ({"conditions": [{"type": "Ready", "status": "False"}]}, "NotReady"),
    "no address": ({"conditions": [{"type": "Ready", "status": "True"}]}, "NoGatewayAddress"),
    "Ready": ({"conditions": [{"type": "Ready", "status": "True"}], "gateway": {"address": "1.2.3.4"}}, "Ready"),
}


@pytest.mark.parametrize(("status", "state"), STATES.values(), ids=STATES)
def test_a_cluster_without_published_pools_is_shown_and_its_room_is_unknown(status: Manifest, state: str) -> None:
    found = as_json([{**cluster("east"), "status": status}])
    assert [(each["state"], each["pools"]) for each in found["clusters"]] == [(state, [])]
    assert found["unknown"] == ["east publishes no pools: its room is not known"]


def test_a_cluster_that_does_not_answer_is_named_among_the_unknown() -> None:
    (obj,) = [each for each in exported(hardware(), cluster("east")) if each["kind"] == "InferenceCluster"]
    for each in obj["status"]["conditions"]:
        each.update({"status": "False", "reason": "Unreachable"} if each["type"] == "ClusterReady" else {})
    assert as_json([obj])["unknown"] == ["east does not answer: what runs there is as last seen"]


#: An object that lacks something, and what is said of it.
BAD: dict[str, tuple[str, str]] = {
    "no kind": ('{"apiVersion": "v1", "metadata": {"name": "a"}}', "<stdin>:1: kind: must be a text that is not empty"),
    "no apiVersion": ("kind: A\nmetadata: {name: a}", "<stdin>:1: apiVersion: must be a text that is not empty"),
    "no name": ("apiVersion: v1\nkind: A\nmetadata: {}", "<stdin>:3: metadata.name: must be a text that is not empty"),
    "no metadata": (
        "apiVersion: v1\nkind: A\nmetadata: 1",
        "<stdin>:3: metadata.name: must be a text that is not empty",
    ),
    "a namespace of another type": (
        "apiVersion: v1\nkind: Node\nmetadata: {name: a, namespace: []}",
        "<stdin>:3: metadata.namespace: must be a text",
    ),
    "nothing": ("", "<stdin>: is empty; see whether the command before the pipe failed"),
}


@pytest.mark.parametrize(("text", "why"), BAD.values(), ids=BAD)
def test_bad_input_exits_2_with_file_line_and_field(text: str, why: str) -> None:
    done = CliRunner().invoke(main, ["get", "-f", "-"], input=text)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"{why}\n")


#: What a file may have in place of what an API server keeps.
MALFORMED: dict[str, Callable[[Manifest], object]] = {
    "spec": lambda obj: obj.update(spec=[]),
    "status": lambda obj: obj.update(status="x"),
    "a status without anything": lambda obj: obj.update(
        status={"gpuPools": [{}], "placements": [{}], "conditions": [{}]}
    ),
    "labels": lambda obj: obj["metadata"].update(labels=[1]),
    "uid": lambda obj: obj["metadata"].update(uid=1),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_malformed_fields_read_as_missing_ones(change: Callable[[Manifest], object]) -> None:
    objects = exported(hardware(), cluster("east"), deployment(), SERVICE)
    for obj in objects:
        change(obj)
    for output in ("table", "json"):
        done = get(objects, "-o", output)
        assert (done.exit_code, done.stderr) == (0, ""), done.output


def test_it_imports_no_preview() -> None:
    code = "import sys, modelplane.cli.get; print(*(m for m in sys.modules if m.startswith('modelplane.preview')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
