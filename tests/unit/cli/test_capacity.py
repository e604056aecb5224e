"""`modelplane capacity`, `check` and `profiles`: what still fits, whether all is well, and what must never go."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from golden import Golden
from modelplane.cli import main
from modelplane.preview import ControlPlane
from unit.cli.test_profiles import deployment as of_model
from unit.preview.test_catalogue import manifests

Manifest = dict[str, Any]
HERE = Path(__file__).parent
FLEET = (hardware(), cluster("east", nodes=2), cluster("west"))


def exported(*objects: Manifest) -> list[Manifest]:
    control = ControlPlane(objects)
    assert control.settle()
    return [obj for obj in control.everything() if obj["apiVersion"] == "modelplane.ai/v1alpha1"]


def ask(objects: Iterable[Manifest], command: str, *arguments: str) -> Result:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return CliRunner().invoke(main, [command, "-f", "-", *arguments], input=json.dumps(listed))


def room(objects: Iterable[Manifest], *arguments: str) -> Manifest:
    done = ask(objects, "capacity", *arguments, "-o", "json")
    assert done.exit_code == 0, done.output
    found: Manifest = json.loads(done.stdout)["room"]
    return found


#: Shapes, and how many more of them fit on two nodes and one, of eight devices each, beside one pod of six, which must
#: find a node again however the others are arranged.
SHAPES = {
    "a device": (("--gpus", "1"), {"east": 5, "west": 8}),
    "three devices": (("--gpus", "3"), {"east": 1, "west": 2}),
    "a node": (("--gpus", "8"), {"east": 1, "west": 1}),
    "two nodes": (("--gpus", "2", "--nodes", "2"), {"east": 1}),
    "more than a node has": (("--gpus", "9"), {}),
    "no such device": (("--gpus", "1", "--cel", 'device.driver == "none"'), {}),
}


@pytest.mark.parametrize(("arguments", "fits"), SHAPES.values(), ids=SHAPES)
def test_how_many_more_of_a_shape_fit_where(arguments: tuple[str, ...], fits: dict[str, int]) -> None:
    found = room(exported(*FLEET, deployment(gpus=6)), *arguments)
    assert {each["cluster"]: each["count"] for each in found["fits"]} == fits
    assert found["total"] == sum(fits.values())
    assert {each["cluster"] for each in found["refusals"]} == {"east", "west"} - fits.keys()


def test_of_a_deployment_the_room_is_that_of_its_own_engines() -> None:
    found = room(exported(*FLEET, deployment(replicas=1)), "team/chat")
    assert (found["shape"], found["total"]) == ("team/chat", 2)


def test_the_room_needs_clusters_alone() -> None:
    objects = exported(*FLEET, deployment(replicas=2))
    clusters = [each for each in objects if each["kind"] == "InferenceCluster"]
    assert room(clusters, "--gpus", "8")["fits"] == room(objects, "--gpus", "8")["fits"]


#: Arguments that are refused, and what is said of them.
BAD = {
    "a name and a shape": (("team/chat", "--gpus", "1"), "give the name of a deployment, or a shape"),
    "nodes without devices": (("--nodes", "2"), "give --gpus, too"),
    "a selector that does not compile": (("--gpus", "1", "--cel", "device."), "selector `device.` does not compile"),
    "a kind": (("service/team/chat",), "give [NAMESPACE/]NAME of a ModelDeployment"),
    "a name that is not there": (("team/chta",), "There is no ModelDeployment team/chta; the nearest: team/chat."),
}


@pytest.mark.parametrize(("arguments", "why"), BAD.values(), ids=BAD)
def test_bad_input_exits_2_and_says_what_to_give(arguments: tuple[str, ...], why: str) -> None:
    done = ask(exported(*FLEET, deployment()), "capacity", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr


@pytest.mark.parametrize("width", [80, 120])
def test_the_tables_break_no_name(width: int, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    objects = exported(*FLEET, cluster("a-cluster-with-a-very-long-name-in-a-region-far-away"), deployment(gpus=6))
    commands = (("capacity",), ("capacity", "--gpus", "4"), ("capacity", "--gpus", "16"), ("check",))
    text = "".join(f"$ modelplane {' '.join(each)}\n{ask(objects, *each).stdout}\n" for each in commands)
    golden.compare_text(HERE / f"capacity.{width}.txt", text)
    assert all(name in text for name in ("a-cluster-with-a-very-long-name-in-a-region-far-away",))


def finding(objects: Iterable[Manifest]) -> dict[str, tuple[str, str]]:
    done = ask(objects, "check", "-o", "json")
    found = json.loads(done.stdout)["findings"]
    assert done.exit_code == any(each["state"] == "failed" for each in found)
    return {each["check"]: (each["state"], each["message"]) for each in found}


def test_a_check_names_the_clusters_that_are_not_ready_and_why() -> None:
    objects = exported(*FLEET)
    for obj in objects:
        if obj["kind"] == "InferenceCluster" and obj["metadata"]["name"] == "east":
            broken = {
                "type": "ClusterReady",
                "status": "False",
                "reason": "Unreachable",
                "message": "dial tcp: timeout",
            }
            obj["status"]["conditions"] = [broken]
    found = finding(objects)
    assert found["cluster east"] == ("failed", "dial tcp: timeout")
    assert found["cluster west"] == ("ok", "Ready")


def test_versions_that_differ_are_said_first() -> None:
    objects = exported(*FLEET, deployment())
    (chat,) = [obj for obj in objects if obj["kind"] == "ModelDeployment"]
    skew = {"type": "VersionsMatch", "status": "False", "reason": "Skew", "message": "of version 1, and of version 2"}
    chat["status"]["conditions"].append(skew)
    assert next(iter(finding(objects).items())) == ("versions", ("failed", "of version 1, and of version 2"))


def test_a_models_own_replicas_are_freed_only_where_no_others_would_do() -> None:
    objects = [each for each in manifests("kimi-k2-instruct.yaml") if each["kind"] != "ModelDeployment"]
    full = exported(*objects, of_model("ml", "kimi-k2-instruct", 2))
    (row,) = json.loads(ask(full, "profiles", "kimi-k2-instruct", "-o", "json").stdout)["profiles"]
    assert (row["state"], row["freesOwn"], row["frees"]) == (
        "IfSomethingGoes",
        True,
        [{"namespace": "ml", "name": "hog"}],
    )
    text = ask(full, "profiles", "kimi-k2-instruct").stdout
    assert "Scale down" not in text
    assert "The model's own replicas" in text


def test_without_a_model_every_profile_of_every_model_has_a_row() -> None:
    found = json.loads(ask(manifests("kimi-k2-instruct.yaml", "gemma-3-27b.yaml"), "profiles", "-o", "json").stdout)
    assert [(each["model"], [row["name"] for row in each["profiles"]]) for each in found["models"]] == [
        ("gemma-3-27b", ["fp8", "bf16", "int4"]),
        ("kimi-k2-instruct", ["vllm-h200-multinode"]),
    ]
