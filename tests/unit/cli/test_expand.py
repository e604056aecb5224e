"""`modelplane expand`: a deployment of the catalogue as one with engines, which changes no pod."""

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from modelplane.api.clustermodel import Requires
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.preview.expanding import CannotExpand, expand_deployment
from modelplane_dev.folders import ROOT
from unit.preview.test_catalogue import edited, manifests, settled

FOLDER = str(ROOT / "examples" / "catalogue")
NAMESPACE = "ml-team-research"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["expand", *arguments, "--from", FOLDER, "-o", "json"])


def objects(control: ControlPlane) -> dict[str, Any]:
    """Return what is composed onto the clusters, by the name of its Object."""
    return {each["metadata"]["name"]: deepcopy(each["spec"]["forProvider"]) for each in control.list("Object")}


def test_what_it_prints_changes_nothing_that_is_composed_when_it_is_applied() -> None:
    for name, file in (("kimi-k2-instruct", "kimi-k2-instruct.yaml"), ("deepseek-r1-distill", "deepseek-r1.yaml")):
        done = run(f"{NAMESPACE}/{name}")
        assert done.exit_code == 0
        manifest = json.loads(done.stdout)
        assert "modelRef" not in manifest["spec"]
        control = settled(*manifests(file))
        before = objects(control)
        control.apply(manifest)
        assert control.settle()
        assert objects(control) == before


def test_of_pinned_replicas_it_prints_what_they_were_placed_with() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    edited(control, "gemma-3-27b", lambda spec: spec["serving"][2]["engine"].update(image="vllm/vllm-openai:v9"))
    gone = settled(*manifests("gemma-3-27b.yaml"))
    edited(gone, "gemma-3-27b", lambda spec: spec["serving"].pop())
    for plane in (control, gone):
        before = objects(plane)
        found = expand_deployment(plane, NAMESPACE, "gemma-3-27b-batch", "int4")
        plane.apply(found.manifest)
        assert plane.settle()
        assert objects(plane) == before


def test_of_pinned_replicas_it_prints_what_their_containers_may_use() -> None:
    pods = {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"memory": "16Gi"}}
    container = {"name": "engine", "image": "vllm/vllm-openai:v1", "args": ["--model=x"], "resources": pods}
    devices = {"devices": [{"name": "gpu", "selectors": [{"cel": "true"}]}]}
    member = {"nodeSelector": devices, "template": {"spec": {"sharedMemory": "2Gi", "containers": [container]}}}
    given = manifests("gemma-3-27b.yaml")
    for each in given:
        if each["kind"] == "InferenceCluster":
            for pool in each["spec"]["nodePools"]:
                pool["node"] = {"cpu": 64, "memory": "512Gi"}
        if each["kind"] == "ClusterModel":
            each["spec"]["serving"][2] = {"name": "int4", "engines": [{"name": "main", "members": [member]}]}
    control = settled(*given)
    newer = {**container, "image": "vllm/vllm-openai:v9"}
    edited(
        control,
        "gemma-3-27b",
        lambda spec: spec["serving"][2]["engines"][0]["members"][0]["template"]["spec"].update(containers=[newer]),
    )
    before = objects(control)
    control.apply(expand_deployment(control, NAMESPACE, "gemma-3-27b-batch", "int4").manifest)
    assert control.settle()
    assert objects(control) == before


def test_where_pinned_replicas_run_several_versions_of_a_profile_one_is_named_and_the_others_are_said_to_change() -> (
    None
):
    control = settled(*manifests("gemma-3-27b.yaml"))
    name = "gemma-3-27b-batch"
    (first,) = [each["metadata"]["name"] for each in control.list("ModelReplica") if name in each["metadata"]["name"]]
    edited(control, "gemma-3-27b", lambda spec: spec["serving"][2]["engine"].update(image="vllm/vllm-openai:v9"))
    ours = control.get("ModelDeployment", NAMESPACE, name)
    assert ours is not None
    control.apply({**ours, "spec": {**ours["spec"], "replicas": 2}})
    assert control.settle()
    replicas = [each for each in control.list("ModelReplica") if name in each["metadata"]["name"]]
    digests = {each["metadata"]["name"]: each["spec"]["profile"]["digest"] for each in replicas}
    (second,) = digests.keys() - {first}
    with pytest.raises(CannotExpand) as refused:
        expand_deployment(control, NAMESPACE, name, None)
    assert str(refused.value).startswith("replicas run 2 versions of profile int4 (")
    listed = str(refused.value).partition("(")[2].partition(")")[0].split("; ")
    assert sorted(listed) == sorted(f"{digest}: {replica}" for replica, digest in digests.items())
    assert "--replica" in str(refused.value)
    for replica, other in ((first, second), (second, first)):
        found = expand_deployment(control, NAMESPACE, name, None, replica)
        assert found.changed == (other,)
        (engine,) = found.manifest["spec"]["engines"]
        image = engine["members"][0]["template"]["spec"]["containers"][0]["image"]
        assert image.endswith("v9") is (replica == second)
    with pytest.raises(CannotExpand, match="no replica none runs on profile int4"):
        expand_deployment(control, NAMESPACE, name, None, "none")


def test_the_labels_that_crossplane_writes_are_not_printed() -> None:
    metadata = yaml.safe_load(run(f"{NAMESPACE}/gemma-3-27b").stdout)["metadata"]
    assert not [key for each in ("labels", "annotations") for key in metadata.get(each, {}) if "crossplane.io" in key]


def test_what_engines_cannot_say_goes_to_standard_error() -> None:
    assert run(f"{NAMESPACE}/kimi-k2-instruct").stderr.splitlines()[-1] == (
        "These requirements are lost, so any pool matches: memoryPerGpu: 141Gi; interconnect: nvlink; "
        "precisionSupport: fp8; nvlinkDomainSize: 8; multiNodeBandwidth: ib-400g-or-better; multiNodeCapable: true"
    )


def test_no_requirement_of_a_profile_is_lost_without_a_word() -> None:
    named = run(f"{NAMESPACE}/kimi-k2-instruct").stderr.splitlines()[-1].partition("any pool matches: ")[2]
    # A profile with interNodeBandwidth is refused; that pools are capable of several nodes follows from its topology.
    expected = Requires.model_fields.keys() - {"interNodeBandwidth"} | {"multiNodeCapable"}
    assert {each.partition(":")[0] for each in named.split("; ")} == expected


def test_a_deployment_that_is_not_there_and_a_profile_that_nothing_runs_on_are_refused() -> None:
    absent, unused = run(f"{NAMESPACE}/none"), run(f"{NAMESPACE}/gemma-3-27b", "--profile", "bf16")
    assert (absent.exit_code, unused.exit_code) == (1, 2)
    assert "does not exist" in absent.stderr
    assert "no replica runs on profile bf16" in unused.stderr
    unknown = run(f"{NAMESPACE}/gemma-3-27b", "--profile", "fp9")
    assert (unknown.exit_code, unknown.stderr.splitlines()[-1]) == (
        2,
        "there is no profile fp9: name one of fp8, bf16, int4",
    )


@pytest.mark.parametrize("name", ["", "chat", "ml/", "/chat", "ml/chat/0"])
def test_a_name_without_its_namespace_is_bad_input(name: str) -> None:
    found = run(name)
    assert found.exit_code == 2
    assert f"{name!r} is no NAMESPACE/NAME" in found.stderr
