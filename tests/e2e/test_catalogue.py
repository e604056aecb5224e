"""Models of the catalogue on the real kube-scheduler and LeaderWorkerSet: the examples, on pools of their own."""

from copy import deepcopy
from typing import Any

import pytest
import yaml

from e2e.fleet import SOON, Fleet
from modelplane.model.names import LABEL_POOL, tenant_namespace
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.waiting import eventually
from unit.catalogue.played import gather, start, variables

FOLDER = ROOT / "examples" / "catalogue"
#: Nodes of each pool of the example's cluster.
NODES = {"small-models": 1, "medium-models": 2, "frontier-multinode": 4}
RAY = "--distributed-executor-backend=ray"


def manifests(file: str) -> list[Manifest]:
    """Return the manifests of a file of the example."""
    return list(yaml.safe_load_all((FOLDER / file).read_text()))


class Catalogue:
    """The example's cluster on a site, with names of the scenario's own, and what runs there."""

    def __init__(self, fleet: Fleet, site: str) -> None:
        self.fleet = fleet
        self.site = fleet.plane.sites[site]
        *classes, cluster = manifests("fleet.yaml")
        for each in classes:
            each["metadata"]["name"] = self.name(each["metadata"]["name"])
            fleet.plane.hub.api.apply(each)
        cluster["metadata"] = {"name": self.name(site), "labels": {"scenario": fleet.tag}}
        cluster["spec"]["cluster"]["existing"]["secretRef"] = {"name": f"{self.name(site)}-kubeconfig"}
        for pool in cluster["spec"]["nodePools"]:
            pool["maxNodeCount"] = NODES[pool["name"]]
            pool["name"], pool["className"] = self.name(pool["name"]), self.name(pool["className"])
        fleet.plane.connect(cluster, site)
        fleet.clusters[self.name(site)] = self.site
        self.site.create_nodes(cluster, classes)
        fleet.wait_cluster(self.name(site))
        token = {"metadata": {"name": "hugging-face", "namespace": fleet.tag}, "stringData": {"token": "none"}}
        fleet.plane.hub.api.apply({"apiVersion": "v1", "kind": "Secret", **token})

    def name(self, name: str) -> str:
        """Return the name of something of the scenario's own."""
        return f"{self.fleet.tag}-{name}"

    def add_model(self, model: Manifest, name: str) -> None:
        """Apply a ClusterModel under a name, for the scenario's clusters."""
        made = deepcopy(dict(model))
        made["metadata"] = {"name": self.name(name)}
        made["spec"]["clusterSelector"] = {"matchLabels": {"scenario": self.fleet.tag}}
        self.fleet.plane.hub.api.apply(made)

    def deploy(self, name: str, model: str, replicas: int, *profiles: str) -> None:
        """Apply a deployment of a model, and wait until all its replicas serve."""
        allowed: dict[str, Any] = {"profiles": list(profiles)} if profiles else {}
        spec = {"modelRef": {"name": self.name(model), **allowed}, "replicas": replicas, "drainSeconds": 1}
        manifest = {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "ModelDeployment",
            "metadata": {"name": name, "namespace": self.fleet.tag},
            "spec": spec,
        }
        self.fleet.plane.hub.api.apply(manifest)
        self.fleet.wait_counts(name, total=replicas, ready=replicas)

    def pods(self, deployment: str) -> list[Manifest]:
        """Return the pods of a deployment that are not on their way out, all of which run."""
        found = [
            pod
            for pod in self.site.pods(tenant_namespace(self.fleet.tag))
            if pod["metadata"]["labels"].get("modelplane.ai/deployment", "").startswith(deployment)
        ]
        assert {pod["status"]["phase"] for pod in found} == {"Running"}
        return found

    def nodes(self, deployment: str) -> list[str]:
        """Return the nodes of the pods of a deployment, without the scenario's stem."""
        return sorted(pod["spec"]["nodeName"].removeprefix(f"{self.fleet.tag}-") for pod in self.pods(deployment))

    def profiles(self, deployment: str) -> set[tuple[str, str]]:
        """Return the profile and the pool of each replica of a deployment."""
        placed = self.fleet.deployment(deployment)["status"]["placements"]
        stem = f"{self.fleet.tag}-"
        return {(each["profile"], pool.removeprefix(stem)) for each in placed for pool in each["pools"].values()}

    def gpus(self) -> list[int]:
        """Return how many devices each claim on the site was given."""
        claims = self.fleet.claims(next(iter(self.fleet.clusters)))
        return sorted(len(claim["status"]["allocation"]["devices"]["results"]) for claim in claims)


@pytest.mark.proves("P109")
def test_kimi_runs_on_two_nodes_of_eight_gpus_and_its_engines_find_each_other(fleet: Fleet) -> None:
    catalogue = Catalogue(fleet, "east")
    model, _ = manifests("kimi-k2-instruct.yaml")
    catalogue.add_model(model, "kimi")
    (serving,) = model["spec"]["serving"]
    serving["engine"]["args"].remove(RAY)
    catalogue.add_model(model, "kimi-without-ray")
    catalogue.deploy("kimi", "kimi", 1)
    catalogue.deploy("plain", "kimi-without-ray", 1)
    for name in ("kimi", "plain"):
        assert catalogue.profiles(name) == {("vllm-h200-multinode", "frontier-multinode")}
    assert len({*catalogue.nodes("kimi"), *catalogue.nodes("plain")}) == 4
    assert catalogue.gpus() == [8] * 4
    gather((_started(pod) for pod in catalogue.pods("plain")), 8)
    commands = [pod["spec"]["containers"][0]["command"][2] for pod in catalogue.pods("kimi")]
    head, join = sorted(commands, key=lambda command: "--head" not in command)
    assert "ray start --head" in head
    assert "-ge 2 ]" in head
    assert "ray start --address=$(MODELPLANE_LEADER_ADDRESS)" in join


def _started(pod: Manifest) -> Any:
    """Return what the engine of a pod is told, with the variables that LeaderWorkerSet gives it."""
    (container,) = pod["spec"]["containers"]
    return start(container["args"], variables(container, pod["metadata"]["labels"]))


@pytest.mark.proves("P110")
@pytest.mark.long
def test_gemma_runs_on_each_of_its_profiles_and_replicas_share_nodes_only_where_they_must(fleet: Fleet) -> None:
    catalogue = Catalogue(fleet, "west")
    model, *_ = manifests("gemma-3-27b.yaml")
    catalogue.add_model(model, "gemma")
    catalogue.deploy("small", "gemma", 1, "int4")
    catalogue.deploy("wide", "gemma", 1, "bf16")
    catalogue.deploy("chat", "gemma", 2)
    assert catalogue.profiles("small") == {("int4", "small-models")}
    assert catalogue.profiles("wide") == {("bf16", "medium-models")}
    assert catalogue.profiles("chat") == {("fp8", "medium-models")}
    assert catalogue.gpus() == [1, 1, 2, 2]
    assert catalogue.nodes("chat") == ["medium-models-0", "medium-models-1"]
    catalogue.deploy("chat", "gemma", 5)

    def packed() -> None:
        assert set(catalogue.nodes("chat")) == {"medium-models-0", "medium-models-1"}
        assert len(catalogue.nodes("chat")) == 5

    eventually(packed, within=SOON)
    pods = catalogue.pods("chat")
    assert {pod["spec"]["nodeSelector"][LABEL_POOL] for pod in pods} == {catalogue.name("medium-models")}
