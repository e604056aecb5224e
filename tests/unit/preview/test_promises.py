"""What Modelplane promises of a model, shown on the manifests of docs/tour (docs/promises.md names the tests)."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT

TOUR = ROOT / "docs" / "tour"
TEAM, RESEARCH = "ml-team", "ml-team-research"
Manifest = dict[str, Any]


def manifests(*names: str) -> list[Manifest]:
    return [each for name in names for each in yaml.safe_load_all((TOUR / f"{name}.yaml").read_text())]


def settled(*objects: Manifest) -> ControlPlane:
    control = ControlPlane(objects)
    assert control.settle()
    return control


def tour(*names: str) -> ControlPlane:
    return settled(*manifests("fleet", *names))


def status(control: ControlPlane, name: str, namespace: str = TEAM) -> Manifest:
    found = control.get("ModelDeployment", namespace, name)
    assert found is not None
    return dict(found["status"])


def clusters(control: ControlPlane, name: str, namespace: str = TEAM) -> list[str]:
    placed = status(control, name, namespace)["placements"]
    return [each["cluster"] for each in placed if not each["leaving"]]


def on_clusters(control: ControlPlane, kind: str) -> list[Manifest]:
    """Return the manifests of a kind that are put on inference clusters."""
    found = (obj["spec"]["forProvider"]["manifest"] for obj in control.list("Object.kubernetes.m.crossplane.io"))
    return [manifest for manifest in found if manifest["kind"] == kind]


def containers(manifest: Any) -> Iterator[Manifest]:
    """Yield the containers anywhere in a manifest."""
    if isinstance(manifest, dict):
        yield from manifest.get("containers") or ()
        manifest = list(manifest.values())
    for each in manifest if isinstance(manifest, list) else ():
        yield from containers(each)


def scaled(control: ControlPlane, name: str, replicas: int) -> list[str]:
    found = control.get("ModelDeployment", TEAM, name)
    assert found is not None
    control.apply({**found, "spec": {**found["spec"], "replicas": replicas}})
    assert control.settle()
    return clusters(control, name)


@pytest.mark.proves("P54")
def test_a_small_model_takes_the_smallest_gpu_that_suffices_and_leaves_the_large_nodes_to_a_gang() -> None:
    control = tour("single", "gang")
    assert set(clusters(control, "qwen3-8b")) <= {"gke-l4", "eks-l4"}
    assert clusters(control, "qwen3-coder") == ["cw-h200"]


@pytest.mark.proves("P3")
def test_command_arguments_and_image_of_an_engine_pass_through_as_they_are_written() -> None:
    (given,) = containers(manifests("single"))
    (made,) = on_clusters(tour("single"), "Deployment")
    (engine,) = containers(made)
    assert {key: engine[key] for key in given} == given


@pytest.mark.proves("P56")
def test_replicas_are_the_only_axis_of_scaling_and_spread_over_clusters() -> None:
    control = tour("single")
    assert set(scaled(control, "qwen3-8b", 2)) == {"gke-l4", "eks-l4"}
    assert set(scaled(control, "qwen3-8b", 3)) == {"gke-l4", "eks-l4", "a100-west"}
    assert len(scaled(control, "qwen3-8b", 1)) == 1


@pytest.mark.proves("P17")
def test_a_gang_is_one_leaderworkerset_whose_pods_all_mount_the_cache() -> None:
    (gang,) = on_clusters(tour("gang"), "LeaderWorkerSet")
    template = gang["spec"]["leaderWorkerTemplate"]
    assert template["size"] == 2
    for pod in (template["leaderTemplate"], template["workerTemplate"]):
        mounts = {mount["name"]: mount for mount in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounts["models"]["mountPath"] == "/mnt/models"
        assert pod["spec"]["containers"][0]["env"][0]["name"] == "MODELPLANE_LEADER_ADDRESS"


@pytest.mark.proves("P88")
def test_a_gang_waits_for_a_cache_that_does_not_exist_and_names_it() -> None:
    deployment = manifests("gang")[1]
    found = status(settled(*manifests("fleet"), deployment), "qwen3-coder")
    scheduled = next(each for each in found["conditions"] if each["type"] == "ReplicasScheduled")
    assert (scheduled["reason"], scheduled["status"]) == ("WaitingForCache", "False")
    assert "ModelCache ml-team/qwen3-coder does not exist" in scheduled["message"]


@pytest.mark.proves("P24")
def test_a_pair_is_routed_by_an_endpoint_picker() -> None:
    control = tour("pair")
    assert len(on_clusters(control, "InferencePool")) == len(on_clusters(control, "HTTPRoute")) == 1
    assert "warnings" not in status(control, "pd")
    assert {engine["copies"] for engine in manifests("pair")[0]["spec"]["engines"] if "copies" in engine} == {2}
    copies = {made["spec"]["replicas"] for made in on_clusters(control, "Deployment") if "gpu" in str(made)}
    assert 2 in copies


@pytest.mark.proves("P128")
def test_a_pair_whose_decode_engine_has_the_port_of_its_sidecar_is_not_shown_as_serving() -> None:
    (pair,) = manifests("pair")
    decode = pair["spec"]["engines"][1]["members"][0]["template"]["spec"]["containers"][0]
    decode["args"].remove("--port=8001")
    control = settled(*manifests("fleet"), pair)
    assert on_clusters(control, "Deployment") == []
    found = status(control, "pd")
    assert found["replicas"]["ready"] == 0
    (warning,) = found["warnings"]
    assert "no --port" in warning
    assert "Set another one, such as --port=8001" in warning


@pytest.mark.proves("P92", "P136")
def test_a_service_routes_to_the_replicas_that_it_selects() -> None:
    control = tour("single", "service")
    scaled(control, "qwen-demo", 2)
    service = control.get("ModelService", TEAM, "qwen")
    assert service is not None
    ready = {each["type"]: each["status"] for each in service["status"]["conditions"]}
    assert ready["Ready"] == "True"
    assert service["status"]["address"].endswith(f"/{TEAM}/qwen")
    (entry,) = service["status"]["entries"]
    selected = {each["name"] for each in entry["endpoints"]}
    assert len(selected) == 2
    assert selected == {each["name"] for each in status(control, "qwen-demo")["placements"]}


@pytest.mark.proves("P130")
def test_a_replica_written_by_hand_composes_nothing_until_it_has_its_clusters_label() -> None:
    (replica,) = manifests("replica")
    assert len(on_clusters(settled(*manifests("fleet"), replica), "Deployment")) == 1
    del replica["metadata"]["labels"]
    control = settled(*manifests("fleet"), replica)
    assert on_clusters(control, "Deployment") == []
    found = control.get("ModelReplica", TEAM, "qwen3-8b-eks-l4-0")
    assert found is not None
    line = 'Add the line modelplane.ai/cluster: "'
    assert any(line in each.get("message", "") for each in found["status"]["conditions"])


@pytest.mark.proves("P66")
def test_a_request_that_no_class_satisfies_is_not_placed_and_the_closest_device_is_named() -> None:
    (deployment,) = manifests("single")
    device = deployment["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]
    device["selectors"][0]["cel"] = device["selectors"][0]["cel"].replace("20Gi", "150Gi")
    found = status(settled(*manifests("fleet"), deployment), "qwen3-8b")
    assert found["unplaced"] == 1
    messages = [each["message"] for each in found["reasons"] if "frontier" in each["message"]]
    assert messages == [
        "pool frontier: request gpu needs memory >= 150Gi, the closest device (gpu.nvidia.com, NVIDIA H200) has 141Gi"
    ]


@pytest.mark.proves("P83")
def test_a_replica_of_a_cluster_that_is_deleted_is_placed_on_another() -> None:
    control = tour("single")
    (before,) = clusters(control, "qwen3-8b")
    control.delete("InferenceCluster", None, before)
    assert control.settle()
    (after,) = clusters(control, "qwen3-8b")
    assert after != before


@pytest.mark.proves("P49", "P144")
@pytest.mark.parametrize(
    ("name", "pool"), [("gemma-3-27b", "medium-models"), ("kimi-k2-instruct", "frontier-multinode")]
)
def test_attributes_that_no_driver_publishes_are_requested_of_a_synthetic_device(name: str, pool: str) -> None:
    control = settled(*manifests("environment", "engines"))
    (placed,) = status(control, name, RESEARCH)["placements"]
    assert placed["pools"] == {"vllm": pool}


@pytest.mark.proves("P21")
def test_a_model_over_two_nodes_is_one_gang_of_whole_nodes() -> None:
    control = settled(*manifests("environment", "engines"))
    (gang,) = on_clusters(control, "LeaderWorkerSet")
    assert gang["spec"]["leaderWorkerTemplate"]["size"] == 2
    claims = on_clusters(control, "ResourceClaimTemplate")
    counts = [
        request["exactly"]["count"] for claim in claims for request in claim["spec"]["spec"]["devices"]["requests"]
    ]
    assert sorted(set(counts)) == [1, 8]


#: What the preview of each manifest says: its files, and lines that it prints.
PREVIEWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "an engine of one pod": (
        ("docs/tour/fleet.yaml", "docs/tour/single.yaml"),
        ("ml-team/qwen3-8b  1 of 1 placed  no ModelService", "For a URL of qwen3-8b apply this ModelService:"),
    ),
    "a gang and its cache": (
        ("docs/tour/fleet.yaml", "docs/tour/gang.yaml"),
        ("  cw-h200  0  qwen3-coder on frontier  serving", "ModelCache ml-team/qwen3-coder  Ready"),
    ),
    "a pair": (
        ("docs/tour/fleet.yaml", "docs/tour/pair.yaml"),
        ("  cw-h200  0  decode on frontier, prefill on frontier  serving",),
    ),
    "a model and its URL": (
        ("docs/tour/fleet.yaml", "docs/tour/service.yaml"),
        ("ml-team/qwen-demo  1 of 1 placed", "ModelService ml-team/qwen  Ready"),
    ),
    "a replica by hand": (
        ("docs/tour/fleet.yaml", "docs/tour/replica.yaml"),
        ("ModelReplica ml-team/qwen3-8b-eks-l4-0  Ready",),
    ),
    "an environment with its engines": (
        ("docs/tour/environment.yaml", "docs/tour/engines.yaml"),
        (
            "  prod-coreweave-us-east  0  vllm on medium-models  serving",
            "  prod-coreweave-us-east  0  vllm on frontier-multinode  serving",
        ),
    ),
    "a model of the catalogue": (
        ("examples/catalogue/fleet.yaml", "examples/catalogue/kimi-k2-instruct.yaml"),
        (
            "  prod-coreweave-us-east  0  vllm-h200-multinode on frontier-multinode  serving",
            "ClusterModel kimi-k2-instruct  Ready",
        ),
    ),
}


@pytest.mark.proves("P124")
@pytest.mark.parametrize(("files", "lines"), PREVIEWS.values(), ids=PREVIEWS)
def test_the_preview_of_each_manifest_says_what_becomes_of_it(files: tuple[str, ...], lines: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, ["preview", *(str(ROOT / file) for file in files)])
    assert done.exit_code == 0, done.output
    assert [line for line in lines if line not in done.stdout.splitlines()] == []


def test_every_manifest_of_the_tour_is_previewed() -> None:
    previewed = {file for files, _ in PREVIEWS.values() for file in files}
    assert {str(file.relative_to(ROOT)) for file in TOUR.glob("*.yaml")} <= previewed
