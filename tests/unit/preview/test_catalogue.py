"""A catalogue on the offline control plane: from ClusterModel to the objects on a cluster, and through its edits."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from modelplane_dev.folders import ROOT
from unit.preview.fakes import conditions_of

FOLDER = ROOT / "examples" / "catalogue"
NAMESPACE = "ml-team-research"
CLUSTER = "prod-coreweave-us-east"


def manifests(*files: str) -> list[Any]:
    """Return the objects of files of the example, and the Secret that one of its models needs."""
    texts = [Path(FOLDER / file).read_text() for file in ("fleet.yaml", *files)]
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hugging-face", "namespace": NAMESPACE}}
    return [secret | {"data": {"token": "dA=="}}, *(each for text in texts for each in yaml.safe_load_all(text))]


def settled(*objects: Any) -> ControlPlane:
    control = ControlPlane(objects, healthy)
    assert control.settle()
    return control


def deployment(control: ControlPlane, name: str) -> Any:
    return control.get("ModelDeployment", NAMESPACE, name)


def placements(control: ControlPlane, name: str) -> list[tuple[str, list[str]]]:
    """Return the profile and the pools of each placement of a deployment."""
    found = deployment(control, name)["status"]["placements"]
    return [(each["profile"], sorted(each["pools"].values())) for each in found]


def workloads(control: ControlPlane, kind: str) -> list[Any]:
    """Return the manifests of a kind that are composed onto the clusters."""
    bodies = [each["spec"]["forProvider"]["manifest"] for each in control.list("Object")]
    return [each for each in bodies if each.get("kind") == kind]


def edited(control: ControlPlane, name: str, change: Any) -> None:
    """Apply a ClusterModel after a change of its spec, and settle."""
    model = deepcopy(control.get("ClusterModel", None, name))
    assert model is not None
    change(model["spec"])
    control.apply(model)
    assert control.settle()


@pytest.mark.proves("P111")
def test_kimi_is_a_leader_and_one_worker_of_eight_gpus_on_the_pool_for_several_nodes() -> None:
    control = settled(*manifests("kimi-k2-instruct.yaml"))
    assert placements(control, "kimi-k2-instruct") == [("vllm-h200-multinode", ["frontier-multinode"])]
    (gang,) = workloads(control, "LeaderWorkerSet")
    assert gang["spec"]["leaderWorkerTemplate"]["size"] == 2
    claims = workloads(control, "ResourceClaimTemplate")
    assert {each["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] for each in claims} == {8}
    pods = [gang["spec"]["leaderWorkerTemplate"][each]["spec"] for each in ("leaderTemplate", "workerTemplate")]
    assert {pod["nodeSelector"]["modelplane.ai/pool"] for pod in pods} == {"frontier-multinode"}
    for pod in pods:
        assert "podAntiAffinity" in pod["affinity"]
    assert deployment(control, "kimi-k2-instruct")["status"]["model"]["name"] == "kimi-k2-instruct"


@pytest.mark.proves("P112")
def test_kimi_without_that_pool_is_told_what_each_other_one_lacks() -> None:
    fleet, *rest = manifests("kimi-k2-instruct.yaml")
    objects = [fleet, *rest]
    cluster = next(each for each in objects if each["kind"] == "InferenceCluster")
    for pool in cluster["spec"]["nodePools"]:
        if pool["name"] == "frontier-multinode":
            pool["capabilities"]["interNodeBandwidth"] = "ib-200g"
    control = settled(*objects)
    (reason,) = deployment(control, "kimi-k2-instruct")["status"]["reasons"]
    single = "multiNodeCapable true is needed by an engine of several nodes, the pool declares"
    assert reason == {
        "reason": "CapabilityShort",
        "count": 1,
        "profile": "vllm-h200-multinode",
        "message": "pool frontier-multinode: interNodeBandwidth ib-400g-or-better is needed, the pool declares ib-200g"
        f"; pool medium-models: {single} multiNodeCapable false"
        f"; pool small-models: {single} no multiNodeCapable (if its nodes have that, declare it)",
        "remedy": "Require less in the profile, or add a pool that has it.",
    }


@pytest.mark.proves("P108")
def test_gemma_runs_on_its_first_profile_and_on_the_next_one_where_that_has_no_room() -> None:
    objects = manifests("gemma-3-27b.yaml")
    control = settled(*objects)
    assert placements(control, "gemma-3-27b") == [("fp8", ["medium-models"])] * 2
    assert placements(control, "gemma-3-27b-batch") == [("int4", ["small-models"])]
    cluster = next(each for each in objects if each["kind"] == "InferenceCluster")
    cluster["spec"]["nodePools"] = cluster["spec"]["nodePools"][:1]
    (on_small, other) = placements(settled(*objects), "gemma-3-27b")
    assert on_small == other == ("int4", ["small-models"])


def test_the_status_says_of_each_better_profile_why_not() -> None:
    objects = manifests("gemma-3-27b.yaml")
    cluster = next(each for each in objects if each["kind"] == "InferenceCluster")
    cluster["spec"]["nodePools"] = cluster["spec"]["nodePools"][:1]
    control = settled(*objects)
    first, _, third = deployment(control, "gemma-3-27b")["status"]["profiles"]
    assert first == {
        "name": "fp8",
        "replicas": 0,
        "message": "1 pool small-models: memoryPerGpu 40Gi is needed, the pool declares 24Gi",
    }
    assert third["replicas"] == 2
    again = deployment(control, "gemma-3-27b")["status"]["profiles"]
    assert control.settle()
    assert deployment(control, "gemma-3-27b")["status"]["profiles"] == again


def test_a_replica_says_what_it_runs_and_the_model_counts_it() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    stamps = [each["spec"]["profile"]["name"] for each in control.list("ModelReplica")]
    assert sorted(stamps) == ["fp8", "fp8", "int4"]
    model = control.get("ClusterModel", None, "gemma-3-27b")
    assert model is not None
    assert model["status"]["replicas"] == 3


def test_prefill_and_decode_of_a_profile_are_a_pair() -> None:
    control = settled(*manifests("deepseek-r1.yaml"))
    assert placements(control, "deepseek-r1-distill") == [("prefill-decode", ["medium-models", "medium-models"])]
    (replica,) = control.list("ModelReplica")
    assert replica["spec"]["serving"] == {"mode": "PrefillDecode"}
    assert workloads(control, "InferencePool")


def test_the_table_shows_the_profile_of_each_replica() -> None:
    printed = CliRunner().invoke(
        main, ["preview", *(str(FOLDER / f"{name}.yaml") for name in ("fleet", "deepseek-r1"))]
    )
    assert f"{CLUSTER}  0  prefill-decode: decode on medium-models, prefill on" in printed.stdout
    printed = CliRunner().invoke(
        main, ["preview", *(str(FOLDER / f"{name}.yaml") for name in ("fleet", "gemma-3-27b"))]
    )
    assert f"{CLUSTER}  0, 1  fp8 on medium-models  serving" in printed.stdout


def test_sglang_is_started_over_two_nodes_by_its_own_flags() -> None:
    control = settled(*manifests("qwen3-235b-sglang.yaml"))
    (gang,) = workloads(control, "LeaderWorkerSet")
    worker = gang["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    assert worker["command"] == ["python3", "-m", "sglang.launch_server"]
    assert "--node-rank=$(MODELPLANE_RANK)" in worker["args"]


def test_an_edit_of_the_catalogue_is_a_rollout_and_pinned_replicas_stay() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    before = {each["metadata"]["name"]: each["spec"]["engines"] for each in control.list("ModelReplica")}

    def image(spec: Any) -> None:
        for profile in spec["serving"]:
            profile["engine"]["image"] = "vllm/vllm-openai:v0.24.0"

    edited(control, "gemma-3-27b", image)
    changed = {
        each["spec"]["profile"]["name"]
        for each in control.list("ModelReplica")
        if before.get(each["metadata"]["name"]) != each["spec"]["engines"]
    }
    assert changed == {"fp8"}
    pinned = conditions_of(deployment(control, "gemma-3-27b-batch"))["RolloutProgressing"]
    assert pinned[:2] == ("False", "Pinned")


#: What is asked of a pinned deployment whose ClusterModel was edited, and the image that its replicas have then.
PINNED: dict[str, tuple[dict[str, Any], str]] = {
    "what is no pod's": ({"replicaLabels": {"tier": "batch"}}, "v0.23.0"),
    "another drain": ({"drainSeconds": 60}, "v0.24.0"),
    "that it follows": ({"modelRef": {"name": "gemma-3-27b", "updates": "Follow"}}, "v0.24.0"),
}


@pytest.mark.parametrize(("spec", "image"), PINNED.values(), ids=PINNED)
def test_an_edit_of_a_pinned_deployment_itself_is_rolled_out_with_the_profile_as_it_is_then(
    spec: dict[str, Any], image: str
) -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    name = "gemma-3-27b-batch"

    def images() -> set[str]:
        replicas = [each for each in control.list("ModelReplica") if name in each["metadata"]["name"]]
        engines = [engine for each in replicas for engine in each["spec"]["engines"]]
        pods = [member["template"]["spec"] for engine in engines for member in engine["members"]]
        return {pod["containers"][0]["image"].partition(":")[2] for pod in pods}

    def upgraded(model: Any) -> None:
        for profile in model["serving"]:
            profile["engine"]["image"] = "vllm/vllm-openai:v0.24.0"

    edited(control, "gemma-3-27b", upgraded)
    assert images() == {"v0.23.0"}
    ours = deployment(control, name)
    control.apply({**ours, "spec": {**ours["spec"], **spec}})
    assert control.settle()
    assert images() == {image}


def test_a_better_profile_that_an_edit_adds_is_said_to_be_possible_until_replicas_run_on_it() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    profiles: list[Any] = []

    def without_the_first(spec: Any) -> None:
        profiles.append(spec["serving"].pop(0))

    def with_it_again(spec: Any) -> None:
        spec["serving"].insert(0, profiles[0])

    def message() -> str:
        return str(deployment(control, "gemma-3-27b")["status"]["profiles"][0].get("message", ""))

    def scale(replicas: int) -> None:
        ours = deployment(control, "gemma-3-27b")
        control.apply({**ours, "spec": {**ours["spec"], "replicas": replicas}})
        assert control.settle()

    edited(control, "gemma-3-27b", without_the_first)
    assert placements(control, "gemma-3-27b") == [("bf16", ["medium-models"])] * 2
    edited(control, "gemma-3-27b", with_it_again)
    assert placements(control, "gemma-3-27b") == [("bf16", ["medium-models"])] * 2
    assert message() == (
        "2 replicas could run on fp8: raise spec.replicas by 2, and lower it again once the new ones serve"
    )
    assert deployment(control, "gemma-3-27b")["status"]["profiles"][0]["improvable"] == 2
    scale(4)
    scale(2)
    assert placements(control, "gemma-3-27b") == [("fp8", ["medium-models"])] * 2
    assert message() == ""


def test_a_profile_that_contradicts_itself_is_skipped_and_named_and_who_runs_on_it_stays() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))

    def wrong(spec: Any) -> None:
        spec["serving"][0]["replicaTopology"]["parallelism"] = {"tensor": 4}

    edited(control, "gemma-3-27b", wrong)
    assert placements(control, "gemma-3-27b") == [("fp8", ["medium-models"])] * 2
    accepted = conditions_of(control.get("ClusterModel", None, "gemma-3-27b"))["Accepted"]
    assert accepted[:2] == ("False", "InvalidProfile")
    resolved = conditions_of(deployment(control, "gemma-3-27b"))["ModelResolved"]
    assert resolved[:2] == ("True", "ModelResolved")
    said = {each["name"]: each for each in deployment(control, "gemma-3-27b")["status"]["profiles"]}
    assert said["fp8"]["replicas"] == 2
    assert not [name for name, each in said.items() if "could run on" in each.get("message", "")]


def test_a_profile_whose_selector_does_not_compile_is_skipped_and_the_others_are_used() -> None:
    objects = manifests("gemma-3-27b.yaml")
    model = next(each for each in objects if each["kind"] == "ClusterModel")
    bad = [{"name": "gpu", "selectors": [{"cel": "device."}]}]
    model["spec"]["serving"][0]["replicaTopology"]["devices"] = bad
    control = settled(*objects)
    assert placements(control, "gemma-3-27b") == [("bf16", ["medium-models"])] * 2
    found = conditions_of(deployment(control, "gemma-3-27b"))
    assert found["ReplicasScheduled"][:2] == ("True", "ReplicasScheduled")
    assert (
        "profile fp8 is skipped: spec.serving[fp8].replicaTopology.devices: selector `device.`"
        in (found["ModelResolved"][2])
    )


def test_a_replica_that_no_profile_has_a_pool_for_any_more_stays_and_the_status_says_what_pools_lack() -> None:
    control = settled(*manifests("gemma-3-27b.yaml"))
    for each in control.list("InferenceClass"):
        each["spec"]["capabilities"]["precisionSupport"] = ["bf16"]
        control.apply(each)
    assert control.settle()
    assert placements(control, "gemma-3-27b") == [("fp8", ["medium-models"])] * 2
    waiting = conditions_of(deployment(control, "gemma-3-27b"))["RolloutProgressing"]
    assert waiting[:2] == ("True", "WaitingForRoom")
    assert "on its profile or a better one: see status.profiles for what each lacks" in waiting[2]
    fp8 = deployment(control, "gemma-3-27b")["status"]["profiles"][0]
    assert "precisionSupport fp8 is needed, the pool declares bf16" in fp8["message"]


def test_an_allowed_profile_that_the_model_does_not_have_is_named() -> None:
    objects = manifests("gemma-3-27b.yaml")
    team = next(each for each in objects if each["metadata"]["name"] == "gemma-3-27b" and "replicas" in each["spec"])
    team["spec"]["modelRef"]["profiles"] = ["int4", "fp9", "bf16"]
    control = settled(*objects)
    assert placements(control, "gemma-3-27b") == [("bf16", ["medium-models"])] * 2
    assert conditions_of(deployment(control, "gemma-3-27b"))["ModelResolved"] == (
        "True",
        "ModelResolved",
        "ClusterModel gemma-3-27b; it has no profile fp9: correct spec.modelRef.profiles",
    )


def test_labels_that_no_cluster_can_have_are_named_with_both_that_ask_for_them() -> None:
    objects = manifests("kimi-k2-instruct.yaml")
    team = next(each for each in objects if each["kind"] == "ModelDeployment")
    team["spec"]["clusterSelector"] = {"matchLabels": {"modelplane.ai/tier": "test"}}
    control = settled(*objects)
    assert conditions_of(deployment(control, "kimi-k2-instruct"))["ReplicasScheduled"] == (
        "False",
        "NoClusters",
        "0 of 1 replicas scheduled: spec.clusterSelector asks for modelplane.ai/tier=test and ClusterModel "
        "kimi-k2-instruct for modelplane.ai/tier=production, so that no InferenceCluster can satisfy both: correct one "
        "of them",
    )


def test_a_model_that_is_gone_holds_what_runs() -> None:
    control = settled(*manifests("kimi-k2-instruct.yaml"))
    control.delete("ClusterModel", None, "kimi-k2-instruct")
    assert control.settle()
    assert placements(control, "kimi-k2-instruct") == [("vllm-h200-multinode", ["frontier-multinode"])]
    assert len(workloads(control, "LeaderWorkerSet")) == 1


@pytest.mark.parametrize(("replicas", "scheduled"), [(1, "ReplicasScheduled"), (2, "ModelNotFound")])
def test_every_condition_says_that_the_model_is_gone_and_what_to_do(replicas: int, scheduled: str) -> None:
    control = settled(*manifests("kimi-k2-instruct.yaml"))
    control.delete("ClusterModel", None, "kimi-k2-instruct")
    ours = deployment(control, "kimi-k2-instruct")
    control.apply({**ours, "spec": {**ours["spec"], "replicas": replicas}})
    assert control.settle()
    found = conditions_of(deployment(control, "kimi-k2-instruct"))
    says = "there is no ClusterModel kimi-k2-instruct: create it, or name another in spec.modelRef.name"
    told = ("ReplicasScheduled", "ReplicasReady", "RolloutProgressing", "ModelResolved")
    assert {kind: says in found[kind][2] for kind in told} == dict.fromkeys(told, True)
    reasons = {kind: found[kind][1] for kind in told}
    assert reasons == {
        "ReplicasScheduled": scheduled,
        "ReplicasReady": "AllReplicasReady" if replicas == 1 else "Degraded",
        "RolloutProgressing": "ModelNotFound",
        "ModelResolved": "ModelNotFound",
    }


def test_an_edit_that_makes_the_best_profile_contradict_itself_keeps_it_the_last_to_be_scaled_down() -> None:
    objects = manifests("gemma-3-27b.yaml")
    for each in objects:
        for pool in each.get("spec", {}).get("nodePools", ()):
            pool["maxNodeCount"] = 1
        if each["kind"] == "ClusterModel":
            each["spec"]["serving"][0]["replicaTopology"] |= {"gpusPerNode": 8, "parallelism": {"tensor": 8}}
        if each["metadata"]["name"] == "gemma-3-27b" and each["kind"] == "ModelDeployment":
            each["spec"]["replicas"] = 3
    control = settled(*objects)
    placed = [name for name, _ in placements(control, "gemma-3-27b")]
    assert sorted(placed) == ["fp8", "fp8", "int4"]

    def contradict(spec: Any) -> None:
        spec["serving"][0]["replicaTopology"]["parallelism"] = {"tensor": 7}

    edited(control, "gemma-3-27b", contradict)
    progress = conditions_of(deployment(control, "gemma-3-27b"))["RolloutProgressing"]
    assert progress[:2] == ("False", "RolloutComplete")
    assert "stay as they were placed, on a profile that ModelResolved says how to correct" in progress[2]
    ours = deployment(control, "gemma-3-27b")
    control.apply({**ours, "spec": {**ours["spec"], "replicas": placed.count("fp8")}})
    assert control.settle()
    assert {name for name, _ in placements(control, "gemma-3-27b")} == {"fp8"}


def test_a_cache_is_loaded_instead_of_the_repository() -> None:
    cache = yaml.safe_load((ROOT / "examples/caches/qwen3-coder-30b.yaml").read_text())
    cache["metadata"] = {"name": "kimi", "namespace": NAMESPACE}
    cache["spec"]["clusterSelector"] = {}
    objects = manifests("kimi-k2-instruct.yaml")
    next(each for each in objects if each["kind"] == "ModelDeployment")["spec"]["modelCacheRef"] = {"name": "kimi"}
    control = settled(*objects, cache)
    (gang,) = workloads(control, "LeaderWorkerSet")
    args = gang["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["args"]
    assert [each for each in args if each.startswith("--model")] == ["--model=/mnt/models"]


def _previewed(change: Any) -> str:
    """Return what a preview prints of gemma's deployment after a change of its spec, in one line."""
    objects = manifests("gemma-3-27b.yaml")
    change(next(each for each in objects if each["kind"] == "ModelDeployment")["spec"])
    done = CliRunner().invoke(main, ["preview", "-"], input=yaml.safe_dump_all(objects))
    return " ".join(done.stdout.split())


def test_profiles_that_the_model_has_not_are_named_beside_those_that_it_has() -> None:
    words = "spec.modelRef.profiles (fp9) names no profile of ClusterModel gemma-3-27b: name one of fp8, bf16, int4"
    assert words in _previewed(lambda spec: spec["modelRef"].update(profiles=["fp9"]))


def test_a_preview_says_of_each_reason_which_profile_it_keeps_from_a_cluster() -> None:
    printed = _previewed(lambda spec: spec.update(replicas=500))
    assert [profile for profile in ("fp8", "bf16", "int4") if f"1 cluster profile {profile}: " not in printed] == []
