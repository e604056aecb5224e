"""What a preview says of every object that was given, and of what was meant otherwise."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT

FLEET = (hardware(), cluster("east"))


def preview(objects: Iterable[Any], *options: str) -> Result:
    return CliRunner().invoke(main, ["preview", "-", *options], input=yaml.safe_dump_all(objects))


def others(*objects: dict[str, Any]) -> dict[str, dict[str, str]]:
    found = json.loads(preview(objects, "-o", "json").stdout)["others"]
    return {f"{row['kind']} {row['name']}": row for row in found}


def replica(pool: str = "pool", device_class: str = "gpu.example.org") -> dict[str, Any]:
    """Return a ModelReplica written by hand for the cluster east."""
    member = {
        "nodePoolName": pool,
        "deviceRequests": [{"name": "gpu", "deviceClassName": device_class}],
        "template": {"spec": {"containers": [{"name": "engine", "image": "e"}]}},
    }
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelReplica",
        "metadata": {"name": "by-hand", "namespace": "team", "labels": {"modelplane.ai/cluster": "east"}},
        "spec": {"clusterName": "east", "engines": [{"name": "main", "members": [member]}]},
    }


def cache() -> dict[str, Any]:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "team"},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": "a/b", "sizeGiB": 1}},
    }


@pytest.mark.proves("P115")
def test_every_object_that_was_given_has_a_state_and_what_is_not_ready_a_reason() -> None:
    foreign = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "s", "namespace": "team"}}
    found = others(*FLEET, hardware("spare"), cache(), replica(), foreign)
    assert {name: row["state"] for name, row in found.items()} == {
        "InferenceClass gpu-class": "Ready",
        "InferenceClass spare": "Unused",
        "InferenceCluster east": "Ready",
        "ModelCache weights": "NotReady",
        "ModelReplica by-hand": "Ready",
        "ScaledObject s": "NotRead",
    }
    assert "storage class" in found["ModelCache weights"]["message"]


@pytest.mark.proves("P116")
def test_a_class_that_is_misspelt_makes_its_cluster_not_ready_and_names_it() -> None:
    wrong = cluster("east")
    wrong["spec"]["nodePools"][0]["className"] = "gpu-clas"
    found = others(hardware(), wrong)
    assert found["InferenceCluster east"]["state"] == "NotReady"
    assert "gpu-clas" in found["InferenceCluster east"]["message"]
    assert found["InferenceClass gpu-class"]["state"] == "Unused"


@pytest.mark.proves("P126")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (replica(pool="poll"), "engine main names pool poll, cluster east publishes pool"),
        (
            replica(device_class="gpu.exampl.org"),
            "engine main: request gpu names DeviceClass gpu.exampl.org, pool pool declares gpu.example.org",
        ),
    ],
)
def test_an_unknown_pool_or_device_class_of_a_replica_by_hand_is_caught(wrong: dict[str, Any], message: str) -> None:
    found = others(*FLEET, wrong)["ModelReplica by-hand"]
    assert (found["state"], found["reason"]) == ("NotReady", "InvalidEngine")
    assert found["message"].startswith(f"{message}. Correct spec.engines")


@pytest.mark.proves("P117")
@pytest.mark.parametrize("wrong", [cache(), replica(pool="poll")], ids=["a cache", "a replica by hand"])
def test_an_object_of_ours_that_is_not_ready_is_printed_and_exits_1(wrong: dict[str, Any]) -> None:
    done = preview([*FLEET, wrong])
    assert done.exit_code == 1
    assert f"{wrong['kind']} team/{wrong['metadata']['name']}" in done.stdout


def reading(**source: Any) -> dict[str, Any]:
    """Return a deployment with an engine that reads a variable from somewhere."""
    made = deployment()
    (container,) = made["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"]
    container["env"] = [{"name": "A", "valueFrom": source}]
    return made


@pytest.mark.proves("P118")
def test_a_secret_that_is_not_in_the_input_is_assumed_and_said_once_and_strict_takes_it_for_missing() -> None:
    objects = [*FLEET, reading(secretKeyRef={"name": "token", "key": "k"})]
    done = preview(objects, "-o", "json")
    assert done.exit_code == 0
    assert done.stderr.count("Secret team/token") == 1
    assert not [each for each in json.loads(done.stdout)["objects"] if each["kind"] == "Secret"]
    strict = preview(objects, "--strict")
    assert (strict.exit_code, strict.stderr) == (1, "")
    assert "Secret team/token does not exist" in " ".join(strict.stdout.split())


def test_the_values_that_services_and_endpoints_read_of_an_assumed_secret_are_assumed_too() -> None:
    gateway = {"kind": "InferenceGateway", "metadata": {"name": "default"}, "spec": {}}
    keys = [{"name": name, "secretRef": {"name": "keys", "key": name}} for name in ("ann", "bob")]
    service = {"kind": "ModelService", "spec": {"endpoints": [{"selector": {"matchLabels": {}}}], "keys": keys}}
    credential = {"secretRef": {"name": "keys", "key": "token"}}
    endpoint = {"kind": "ModelEndpoint", "spec": {"url": "https://api.example.com", "credential": credential}}
    named = {"apiVersion": "modelplane.ai/v1alpha1", "metadata": {"name": "chat", "namespace": "team"}}
    objects = [{**named, **each} for each in (gateway, service, endpoint)]
    found = json.loads(preview([*FLEET, *objects, deployment()], "-o", "json").stdout)
    rows = {row["kind"]: row for row in found["others"]}
    assert (rows["ModelService"]["state"], rows["ModelEndpoint"]["reason"]) == ("Ready", "WaitingForGateway")


@pytest.mark.proves("P8")
def test_a_field_that_a_pod_does_not_have_is_refused_with_the_one_that_was_meant() -> None:
    done = preview([*FLEET, reading(fieldRef={"fieldPath": "status.podIp"})])
    assert done.exit_code == 1
    assert "a pod has no field 'status.podIp'. Write status.podIP." in " ".join(done.stdout.split())
    assert preview([*FLEET, reading(fieldRef={"fieldPath": "status.podIP"})]).exit_code == 0
    assert preview([*FLEET, reading(fieldRef={"fieldPath": "metadata.labels['a/b']"})]).exit_code == 0


@pytest.mark.proves("P119")
def test_a_kustomization_is_refused_and_named() -> None:
    done = preview([{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["a"]}])
    assert done.exit_code == 2
    assert "<stdin>:2: kind: a kustomization, no manifest" in done.stderr
    assert "kubectl kustomize" in done.stderr


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml"])
def test_a_kustomization_without_api_version_and_kind_is_known_by_its_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("resources: [fleet.yaml]\n")
    done = CliRunner().invoke(main, ["preview", str(tmp_path)])
    assert done.exit_code == 2
    assert f"{tmp_path / name}:1: kind: a kustomization, no manifest" in done.stderr
    (tmp_path / name).rename(tmp_path / "values.yaml")
    assert "a kustomization, no manifest" not in CliRunner().invoke(main, ["preview", str(tmp_path)]).stderr


def exported(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of ours that a control plane has once it settled, as kubectl exports them."""
    control = ControlPlane(objects)
    assert control.settle()
    return [obj for obj in control.everything() if obj["apiVersion"].startswith("modelplane.ai/")]


def test_a_composed_replica_whose_deployment_is_not_given_has_a_state() -> None:
    given = exported(*FLEET, deployment())
    rows = others(*(obj for obj in given if obj["kind"] != "ModelDeployment"))
    assert {row["state"] for name, row in rows.items() if name.startswith("ModelReplica chat-east-0-")} == {"Ready"}
    assert not [name for name in others(*given) if name.startswith("ModelReplica")]


def test_a_trace_says_how_many_composed_objects_an_export_does_not_have() -> None:
    given = exported(*FLEET, deployment())
    (made,) = [obj for obj in given if obj["kind"] == "ModelReplica"]
    lost = len(made["spec"]["crossplane"]["resourceRefs"])
    done = preview(given, "--trace", "team/chat")
    assert (done.exit_code, f"not in the input: {lost} composed objects" in done.stdout) == (0, True)
    assert "not in the input" not in preview([*FLEET, deployment()], "--trace", "team/chat").stdout


def test_a_kind_by_its_name_in_the_first_proposal_is_bad_input_that_says_ours() -> None:
    done = preview(
        [{"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceEnvironment", "metadata": {"name": "a"}}]
    )
    assert done.exit_code == 2
    assert "kind: InferenceEnvironment is named InferenceCluster, whose pools name an InferenceClass" in done.stderr


@pytest.mark.proves("P120")
def test_a_mistyped_group_of_ours_is_bad_input() -> None:
    done = preview([{**deployment(), "apiVersion": "modelplane.io/v1alpha1"}])
    assert done.exit_code == 2
    assert "apiVersion: modelplane.io/v1alpha1 has no ModelDeployment; write modelplane.ai/v1alpha1" in done.stderr


@pytest.mark.proves("P125")
def test_a_trace_takes_the_name_of_a_deployment() -> None:
    done = preview([*FLEET, deployment()], "--trace", "team/chat")
    assert done.exit_code == 0
    assert "team/chat-east-0-" in done.stdout
    wrong = preview([*FLEET, deployment()], "--trace", "team/chatt")
    assert wrong.exit_code == 2
    assert "choose one of team/chat" in wrong.stderr


def test_a_trace_takes_a_name_without_namespace_where_there_is_one_of_it() -> None:
    assert "team/chat-east-0-" in preview([*FLEET, deployment()], "--trace", "chat").stdout
    other = deployment()
    other["metadata"]["namespace"] = "other"
    both = preview([*FLEET, deployment(), other], "--trace", "chat")
    assert (both.exit_code, "choose one of other/chat, team/chat" in both.stderr) == (2, True)


def test_a_trace_of_a_deployment_without_a_replica_says_why_there_is_none() -> None:
    done = preview([*FLEET, deployment(memory="9Ti")], "--trace", "team/chat")
    assert done.exit_code == 1
    assert "ModelDeployment team/chat has no replica to show: 0 of 1 replicas scheduled: " in done.stderr


def test_the_demo_fits_one_screen_with_three_clusters_and_a_refusal_with_its_remedy() -> None:
    run = subprocess.run(
        ["make", "--no-print-directory", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", "NO_COLOR": "1"},
    )
    lines = run.stdout.splitlines()
    assert len(lines) <= 32
    assert sum(line.split()[1:2] == ["Ready"] for line in lines) == 3
    assert "0 of 1 placed" in run.stdout
    assert "Request devices that the fleet has" in run.stdout


def test_a_given_secret_without_the_key_that_an_engine_reads_is_refused_and_its_keys_are_named() -> None:
    ours = deployment()
    container = ours["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]
    namespace = ours["metadata"]["namespace"]
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub", "namespace": namespace}}
    says = f"Secret {namespace}/hub has no key token; engine"
    for values, serves in (({"stringData": {"pass": "x"}}, False), ({"data": {"token": "eA=="}}, True), ({}, True)):
        done = preview([*FLEET, ours, {**secret, **values}])
        assert (says in done.output) is not serves
        assert ("keys that it has: pass" in done.output) is not serves
        assert "eA==" not in done.output


def test_of_a_cluster_is_said_which_parts_of_its_stack_are_installed_and_which_are_there() -> None:
    east = cluster("east")
    east["spec"]["stack"] = {"metrics": "Present"}
    given = (hardware(), east)
    assert others(*given)["InferenceCluster east"] == {
        "kind": "InferenceCluster",
        "namespace": "",
        "name": "east",
        "state": "Ready",
        "reason": "ServingStack",
        "message": "Modelplane installs: cert-manager, Envoy Gateway, Envoy AI Gateway, LeaderWorkerSet, NVIDIA's DRA "
        "driver; there already, by spec.stack: Prometheus; these releases stay on it, with their CRDs, when "
        "InferenceCluster east is deleted: mp-cert-manager, mp-gateway-helm, mp-ai-gateway-crds-helm, "
        "mp-ai-gateway-helm, mp-lws, mp-dra-driver-nvidia-gpu",
    }
    assert "Modelplane installs: cert-manager" in preview(given).stdout


def test_a_cluster_that_asks_for_no_stack_has_no_word_of_one() -> None:
    assert others(*FLEET)["InferenceCluster east"]["message"] == ""
