"""What the topologies of docs/tour become on an inference cluster, as docs/promises.md says."""

import copy
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT

TOUR = ROOT / "docs" / "tour"
TEAM = "ml-team"
Manifest = dict[str, Any]
#: What the A100s of docs/tour have.
AMPERE = 'device.attributes["gpu.nvidia.com"].architecture == "Ampere"'


def manifests(name: str) -> list[Manifest]:
    return list(yaml.safe_load_all((TOUR / f"{name}.yaml").read_text()))


def composed(*objects: Manifest) -> list[Manifest]:
    """Return all that is put on inference clusters for these objects on the fleet of docs/tour.

    A cluster among them stands in for that of its name.
    """
    names = {each["metadata"]["name"] for each in objects if each["kind"] == "InferenceCluster"}
    fleet = [each for each in manifests("fleet") if each["metadata"]["name"] not in names]
    control = ControlPlane([*fleet, *objects])
    assert control.settle()
    return [obj["spec"]["forProvider"]["manifest"] for obj in control.list("Object.kubernetes.m.crossplane.io")]


def of_kind(made: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in made if manifest["kind"] == kind]


def pods(made: list[Manifest]) -> dict[str, Manifest]:
    """Return the pod templates of the engines, by what claims devices with them."""
    templates = [each["spec"]["template"] for each in of_kind(made, "Deployment")]
    for each in of_kind(made, "LeaderWorkerSet"):
        template = each["spec"]["leaderWorkerTemplate"]
        templates += [template["leaderTemplate"], template["workerTemplate"]]
    claiming = [each for each in templates if "resourceClaims" in each["spec"]]
    return {each["spec"]["resourceClaims"][0]["resourceClaimTemplateName"]: each for each in claiming}


def single(**spec: Any) -> Manifest:
    (found,) = manifests("single")
    return {**found, "spec": {**found["spec"], **spec}}


@pytest.mark.proves("P16")
def test_an_engine_of_one_pod_is_a_deployment_behind_a_service_and_a_route() -> None:
    made = [each for each in composed(single()) if each["metadata"].get("namespace") == "mp-ml-team"]
    (workload,), (service,) = (of_kind(made, kind) for kind in ("Deployment", "Service"))
    assert service["spec"]["selector"].items() <= workload["spec"]["template"]["metadata"]["labels"].items()
    rules = [rule for route in of_kind(made, "HTTPRoute") for rule in route["spec"]["rules"]]
    assert {ref["name"] for rule in rules for ref in rule["backendRefs"]} == {service["metadata"]["name"]}


@pytest.mark.proves("P47")
def test_a_claim_has_the_selectors_of_the_deployment_unchanged() -> None:
    given = single()["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]
    (claim,) = of_kind(composed(single()), "ResourceClaimTemplate")
    (request,) = claim["spec"]["spec"]["devices"]["requests"]
    assert [each["cel"]["expression"] for each in request["exactly"]["selectors"]] == [
        each["cel"] for each in given["selectors"]
    ]
    assert (request["exactly"]["count"], request["exactly"]["deviceClassName"]) == (1, "gpu.nvidia.com")


@pytest.mark.proves("P48")
def test_pods_are_pinned_to_the_pool_that_was_chosen() -> None:
    (pod,) = pods(composed(single())).values()
    assert pod["spec"]["nodeSelector"] == {"modelplane.ai/pool": "gpu-l4"}


@pytest.mark.proves("P23")
def test_pods_of_a_deployment_stand_apart_where_they_can() -> None:
    (pod,) = pods(composed(single())).values()
    (wish,) = pod["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    term = wish["podAffinityTerm"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


@pytest.mark.proves("P18")
@pytest.mark.parametrize("nodes", [1, 3])
def test_worker_nodes_are_that_many_pods_beside_the_leader_each_on_a_node_of_its_own(nodes: int) -> None:
    cache, gang = manifests("gang")
    gang["spec"]["engines"][0]["members"][1]["worker"]["nodes"] = nodes
    large = next(each for each in manifests("fleet") if each["metadata"]["name"] == "cw-h200")
    large["spec"]["nodePools"][0]["nodeCount"] = 1 + nodes
    made = composed(cache, gang, large)
    (workload,) = of_kind(made, "LeaderWorkerSet")
    assert workload["spec"]["leaderWorkerTemplate"]["size"] == 1 + nodes
    for pod in pods(made).values():
        apart = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert [each["topologyKey"] for each in apart] == ["kubernetes.io/hostname"]


@pytest.mark.proves("P27")
def test_each_half_of_a_pair_runs_on_the_gpus_that_it_asks_for() -> None:
    (pair,) = manifests("pair")
    fleet = manifests("fleet")
    both = next(each for each in fleet if each["metadata"]["name"] == "cw-h200")
    both["spec"]["nodePools"].append({"name": "a100", "className": "a100-8x", "nodeCount": 1})
    decode = pair["spec"]["engines"][1]["members"] = [*map(dict, pair["spec"]["engines"][1]["members"])]
    decode[0]["nodeSelector"] = {"devices": [{"name": "gpu", "count": 4, "selectors": [{"cel": AMPERE}]}]}
    control = ControlPlane([*fleet, pair])
    assert control.settle()
    found = control.get("ModelDeployment", TEAM, "pd")
    assert found is not None
    assert [each["pools"] for each in found["status"]["placements"]] == [{"decode": "a100", "prefill": "frontier"}]


@pytest.mark.proves("P33")
def test_copies_set_how_many_prefill_engines_there_are_for_each_decode_engine() -> None:
    made = composed(*manifests("pair"))
    roles = {
        each["spec"]["template"]["metadata"]["labels"]["llm-d.ai/role"]: each["spec"]["replicas"]
        for each in of_kind(made, "Deployment")
        if "llm-d.ai/role" in each["spec"]["template"]["metadata"].get("labels", {})
    }
    assert roles == {"prefill": 2, "decode": 1}


@pytest.mark.proves("P40")
@pytest.mark.parametrize("name", ["single", "gang", "pair"])
def test_no_autoscaler_is_composed_inside_a_cluster(name: str) -> None:
    kinds = {manifest["kind"] for manifest in composed(*manifests(name))}
    assert kinds
    assert not {kind for kind in kinds if "Autoscaler" in kind or kind == "ScaledObject"}


@pytest.mark.proves("P2")
def test_no_field_names_a_cluster_in_a_deployment() -> None:
    field = yaml.safe_load((ROOT / "apis" / "modeldeployments" / "definition.yaml").read_text())
    spec = field["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert not [name for name in spec if "cluster" in name.lower() and name != "clusterSelector"]


@pytest.mark.proves("P55")
def test_without_a_cluster_selector_every_cluster_is_considered_and_with_one_those_with_its_labels() -> None:
    chosen = single(clusterSelector={"matchLabels": {"modelplane.ai/region": "us-west"}})
    control = ControlPlane([*manifests("fleet"), chosen])
    assert control.settle()
    found = control.get("ModelDeployment", TEAM, "qwen3-8b")
    assert found is not None
    assert [each["cluster"] for each in found["status"]["placements"]] == ["a100-west"]
    for selector, considered in (({}, 4), ({"clusterSelector": chosen["spec"]["clusterSelector"]}, 1)):
        larger = copy.deepcopy(single(**selector))
        larger["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]["count"] = 64
        control = ControlPlane([*manifests("fleet"), larger])
        assert control.settle()
        found = control.get("ModelDeployment", TEAM, "qwen3-8b")
        assert found is not None
        assert sum(each["count"] for each in found["status"]["reasons"]) == considered


@pytest.mark.proves("P72")
def test_a_label_that_no_cluster_carries_is_named() -> None:
    control = ControlPlane([*manifests("fleet"), single(clusterSelector={"matchLabels": {"region": "us-centrl"}})])
    assert control.settle()
    found = control.get("ModelDeployment", TEAM, "qwen3-8b")
    assert found is not None
    scheduled = next(each for each in found["status"]["conditions"] if each["type"] == "ReplicasScheduled")
    assert (scheduled["reason"], "(region=us-centrl): label one" in scheduled["message"]) == ("NoClusters", True)
