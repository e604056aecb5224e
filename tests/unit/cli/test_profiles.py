"""`modelplane profiles`: what a ClusterModel could run on, in three groups."""

import json
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner, Result

from modelplane.cli import main
from unit.preview.test_catalogue import manifests

FILES = ("kimi-k2-instruct.yaml", "gemma-3-27b.yaml")


def deployment(namespace: str, model: str, replicas: int) -> dict[str, Any]:
    """Return a deployment named hog of a model."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": "hog", "namespace": namespace},
        "spec": {"replicas": replicas, "modelRef": {"name": model}},
    }


def run(folder: Path, objects: list[Any], *arguments: str) -> Result:
    """Run the command on objects that are written to a folder."""
    file = folder / "fleet.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    return CliRunner().invoke(main, ["profiles", *arguments, "--from", str(file)])


def outlooks(folder: Path, objects: list[Any], model: str) -> dict[str, Any]:
    """Return what it prints of each profile as JSON, by name."""
    done = run(folder, objects, model, "-o", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["model"] == model
    assert [each["rank"] for each in found["profiles"]] == list(range(len(found["profiles"])))
    return {each["name"]: each for each in found["profiles"]}


def small(*names: str) -> list[Any]:
    """Return the fleet with these pools alone, and the models."""
    objects = [each for each in manifests(*FILES) if each["kind"] != "ModelDeployment"]
    cluster = next(each for each in objects if each["kind"] == "InferenceCluster")
    cluster["spec"]["nodePools"] = [pool for pool in cluster["spec"]["nodePools"] if pool["name"] in names]
    return objects


def test_a_profile_that_a_pool_has_room_for_can_run_now_and_says_where(tmp_path: Path) -> None:
    found = outlooks(tmp_path, manifests(*FILES), "gemma-3-27b")
    assert {name: each["state"] for name, each in found.items()} == {"fp8": "Now", "bf16": "Now", "int4": "Now"}
    assert {name: each["replicas"] for name, each in found.items()} == {"fp8": 2, "bf16": 0, "int4": 1}
    assert (found["int4"]["cluster"], found["int4"]["pools"]) == ("prod-coreweave-us-east", {"int4": "small-models"})
    assert all(each["frees"] == each["reasons"] == [] for each in found.values())


def test_a_profile_whose_pools_are_full_could_run_if_the_fewest_replicas_go(tmp_path: Path) -> None:
    (found,) = outlooks(
        tmp_path, [*manifests(*FILES), deployment("ml", "kimi-k2-instruct", 1)], "kimi-k2-instruct"
    ).values()
    assert found["state"] == "IfSomethingGoes"
    assert found["replicas"] == 2
    assert found["frees"] == [{"namespace": "ml", "name": "hog"}]
    (freed,) = found["freedReplicas"]
    assert freed.startswith("ml/hog-prod-coreweave-us-east-0")
    assert [(each["reason"], each["count"]) for each in found["reasons"]] == [("NoRoom", 1)]


def test_a_profile_that_no_pool_satisfies_never_runs_whatever_goes(tmp_path: Path) -> None:
    (found,) = outlooks(tmp_path, small("medium-models"), "kimi-k2-instruct").values()
    assert (found["state"], found["frees"]) == ("Never", [])
    assert found["reasons"] == [
        {
            "reason": "NotMultiNode",
            "count": 1,
            "message": "pool medium-models: multiNodeCapable true is needed by an engine of several nodes, the pool "
            "declares multiNodeCapable false",
        }
    ]


def test_a_profile_that_contradicts_itself_never_runs_and_says_why(tmp_path: Path) -> None:
    objects = small("medium-models")
    model = next(each for each in objects if each["metadata"]["name"] == "gemma-3-27b")
    model["spec"]["serving"][0]["replicaTopology"]["parallelism"] = {"tensor": 4}
    found = outlooks(tmp_path, objects, "gemma-3-27b")
    assert [each["state"] for each in found.values()] == ["Never", "Now", "Never"]
    (reason,) = found["fp8"]["reasons"]
    assert reason["reason"] == "InvalidProfile"
    assert "tensor 4" in reason["message"]


def test_without_a_cluster_that_is_selected_it_says_which_labels_are_missing(tmp_path: Path) -> None:
    objects = small("frontier-multinode")
    next(each for each in objects if each["kind"] == "InferenceCluster")["metadata"]["labels"] = {}
    (found,) = outlooks(tmp_path, objects, "kimi-k2-instruct").values()
    (reason,) = found["reasons"]
    assert (found["state"], reason["reason"], reason["count"]) == ("Never", "NoClusters", 0)
    assert "modelplane.ai/tier=production" in reason["message"]


def test_the_table_has_a_group_for_each_state(tmp_path: Path) -> None:
    hog = deployment("ml", "gemma-3-27b", 4)
    hog["spec"]["modelRef"]["profiles"] = ["int4"]
    models = [{**hog, "metadata": {"name": "hog", "namespace": "ml"}}]
    done = run(tmp_path, [*small("small-models"), *models], "gemma-3-27b")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Only if something goes",
        "PROFILE  REPLICAS  WHERE, OR WHY NOT",
        "int4            4  prod-coreweave-us-east: int4 on small-models",
        "                   without ml/hog-prod-coreweave-us-east-3-a0442541",
        "                   The model's own replicas: nothing else that goes leaves room. Add nodes.",
        "",
        "Never, as the fleet is",
        "PROFILE  REPLICAS  WHERE, OR WHY NOT",
        "fp8             0  1 cluster: pool small-models: memoryPerGpu 40Gi is needed, the pool declares",
        "                   24Gi",
        "bf16            0  1 cluster: pool small-models: memoryPerGpu 40Gi is needed, the pool declares",
        "                   24Gi",
        "Require less in the profile, or add a pool that has it.",
        "",
    ]


def test_a_model_that_is_not_there_and_bad_input_have_exit_codes_of_their_own(tmp_path: Path) -> None:
    absent = run(tmp_path, small("medium-models"), "none")
    assert (absent.exit_code, absent.stderr) == (
        1,
        "ClusterModel none does not exist; there are: gemma-3-27b, kimi-k2-instruct\n",
    )
    bad = run(tmp_path, [{"kind": "ClusterModel"}], "none")
    assert bad.exit_code == 2
