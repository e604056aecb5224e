"""Clusters in a project of a fake Google Cloud with a bill: whatever happens, nothing is billed when all is deleted.

Nor is anything touched that serves meanwhile: the fake notes whose nodes were made anew, and what was deleted inside
clusters.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.preview.simulation.providers import OBJECT
from modelplane_dev.plane.google_cloud import BALANCER, FIREWALL, GoogleCloud
from property.google_projects import Manifest, Project
from property.strategies import examples
from unit.compose_cluster import made
from unit.compose_cluster.test_made_cluster import deployment

#: Turns after which a cluster is Ready, at the longest delay below.
LONGEST = 24
CLUSTER = made.cluster(made.pool("a", nodeCount=1))
OTHER = made.cluster(made.pool("a", nodeCount=1), name="us-1")


def conditions(project: Project, name: str = "eu-1") -> dict[str, Manifest]:
    found = project.control.get("InferenceCluster", None, name)
    assert found is not None
    return {each["type"]: each for each in found["status"]["conditions"]}


def is_ready(project: Project, name: str = "eu-1") -> bool:
    return bool(conditions(project, name)["Ready"]["status"] == "True")


def left(project: Project) -> list[str]:
    """Return the kinds that are left of what is composed for clusters."""
    ours = {"ManagedCluster", "InferenceCluster", "ServingStack", "Usage", "Object", "Release", "Secret"}
    kinds = [each["kind"] for each in project.control.everything()]
    clouds = {kind for kind in project.control.view().kinds() if kind.endswith("gcp.m.upbound.io")}
    names = ours | {kind.partition(".")[0] for kind in clouds} - {"ClusterProviderConfig"}
    return sorted(kind for kind in kinds if kind in names)


def of_cluster(project: Project, name: str) -> dict[Any, Mapping[str, Any]]:
    """Return what is in the cloud of a cluster, by its name."""
    return {place: each.fields for place, each in project.cloud.things.items() if place[1].startswith(name)}


@examples(25)
@given(
    moment=st.integers(0, LONGEST),
    delay=st.integers(0, 3),
    foreground=st.booleans(),
    replicas=st.integers(0, 1),
    kills=st.sets(st.integers(0, 2 * LONGEST)),
)
def test_a_cluster_that_is_deleted_at_any_moment_leaves_no_bill(
    moment: int, delay: int, foreground: bool, replicas: int, kills: set[int]
) -> None:
    project = Project([CLUSTER, *([deployment(1)] if replicas else [])], GoogleCloud(delay))
    for turn in range(moment):
        project.running = turn not in kills
        project.turn()
    project.control.delete("InferenceCluster", None, "eu-1", foreground=foreground)
    if replicas and project.control.list("ModelReplica"):
        for _ in range(8):
            project.turn()
        assert ("NodePool" in dict(project.cloud.bill())) and project.ended == [], "a replica is on it"
    project.control.delete("ModelDeployment", "ml", "chat")
    for turn in range(LONGEST):
        project.running = turn + moment not in kills
        project.turn()
    project.running = True
    assert project.settle()
    assert project.cloud.bill() == []
    assert left(project) == []


def test_replicas_go_first_then_the_load_balancer_then_the_cluster_and_its_network() -> None:
    project = Project([CLUSTER, deployment(1)], GoogleCloud(1))
    assert project.settle()
    assert is_ready(project)
    project.control.delete("InferenceCluster", None, "eu-1")
    assert project.settle()
    serving, whole = project.control.list("ModelReplica"), project.cloud.bill()
    assert len(serving) == 1
    project.control.delete("ModelDeployment", "ml", "chat")
    order: list[str] = []
    before = {kind for kind, _ in whole}
    for _ in range(20):
        project.turn()
        now = {kind for kind, _ in project.cloud.bill()}
        order += sorted(before - now)
        before = now
    at = {kind: place for place, kind in enumerate(order)}
    assert at[BALANCER] < at["Cluster"] < at["Subnetwork"] < at["Network"]
    kinds = [kind for _, kind in project.ended]
    assert kinds[-1] == "Service"
    assert "Deployment" in kinds, "the engine"


@examples(8)
@given(delay=st.integers(0, 2), kills=st.sets(st.integers(0, LONGEST)))
def test_a_provider_that_is_killed_at_any_moment_makes_the_same_in_the_end(delay: int, kills: set[int]) -> None:
    project, plain = Project([CLUSTER], GoogleCloud(delay)), Project([CLUSTER], GoogleCloud(delay))
    for turn in range(LONGEST):
        project.running = turn not in kills
        project.turn()
    project.running = True
    assert project.settle()
    assert plain.settle()
    assert is_ready(project)
    assert of_cluster(project, "") == of_cluster(plain, "")


def test_of_two_clusters_side_by_side_one_goes_and_of_the_other_nothing_is_touched() -> None:
    project = Project([CLUSTER, OTHER, deployment(2)], GoogleCloud(1))
    assert project.settle()
    assert (is_ready(project), is_ready(project, "us-1")) == (True, True)
    assert len({replica["spec"]["clusterName"] for replica in project.control.list("ModelReplica")}) == 2
    before = of_cluster(project, "us-1")
    assert project.cloud.things.keys() == before.keys() | of_cluster(project, "eu-1").keys()
    project.control.delete("InferenceCluster", None, "eu-1")
    project.control.apply(deployment(1))
    assert project.settle()
    assert {kind for kind, _ in of_cluster(project, "eu-1")} == {"ProjectService"}, "others may use it too"
    assert of_cluster(project, "us-1") == before
    assert is_ready(project, "us-1")
    assert [config for config, _ in project.ended if config == "us-1"] == []


#: Edits of a cluster whose pool has a replica on it: none makes nodes anew or takes some away.
EDITS: dict[str, Manifest] = {
    "zones": {"zones": ["us-central1-b"]},
    "more zones": {"zones": ["us-central1-a", "us-central1-b"], "nodeCount": 2},
    "fewer nodes": {"nodeCount": 0},
    "more nodes": {"nodeCount": 3},
    "scaled": {"nodeCount": None, "maxNodeCount": 4},
    "scaled to less": {"nodeCount": None, "minNodeCount": 0, "maxNodeCount": 1},
    "a reservation": {"reservation": "mine"},
    "another machine": {"machineType": "g2-standard-16"},
    "a larger disk": {"diskSizeGb": 200},
    "another accelerator": {"accelerator": {"type": "nvidia-tesla-t4", "count": 1}},
    "another version": {"kubernetesVersion": "1.36"},
}
_OF_CLASS = {"machineType", "diskSizeGb", "accelerator"}


def edit(project: Project, change: Manifest, **pool: Any) -> None:
    """Edit the class of the pool, the cluster, or the pool."""
    recipe = {name: each for name, each in change.items() if name in _OF_CLASS}
    project.control.apply(made.device_class(**recipe))
    found = project.control.get("InferenceCluster", None, "eu-1")
    assert found is not None
    before = found["spec"]["cluster"]["gke"]["kubernetesVersion"]
    settings = {"kubernetesVersion": change.get("kubernetesVersion", before)}
    fields = {name: each for name, each in change.items() if name not in {*recipe, *settings}}
    asked = {**made.pool("a", nodeCount=1), **fields, **pool}
    asked = {name: each for name, each in asked.items() if each is not None}
    project.control.apply(made.cluster(asked, gke=settings))


def refused(project: Project) -> list[str]:
    """Return what the provider refuses to change, which blocks every other change."""
    kinds = ("Cluster.container", "NodePool.container", "Subnetwork.compute", "Network.compute")
    found = [each for kind in kinds for each in project.control.list(f"{kind}.gcp.m.upbound.io")]
    messages = [str(each.get("message")) for obj in found for each in obj["status"]["conditions"]]
    return [each for each in messages if "cannot change the value" in each]


@examples(12)
@given(st.lists(st.sampled_from(sorted(EDITS)), min_size=1, max_size=4))
def test_no_edit_touches_nodes_under_a_replica_or_asks_for_what_cannot_be_changed(names: list[str]) -> None:
    project = Project([CLUSTER, deployment(1)])
    assert project.settle()
    (replica,) = project.control.list("ModelReplica")
    for name in names:
        edit(project, EDITS[name])
        assert project.settle()
        assert [pool for pool in project.cloud.rolled if "-system-" not in pool] == [], name
        assert project.cloud.shrunk == [], name
        assert refused(project) == [], name
        assert [each["metadata"]["uid"] for each in project.control.list("ModelReplica")] == [
            replica["metadata"]["uid"]
        ], name
        assert project.ended == []


@pytest.mark.parametrize("name", ["zones", "another machine", "a larger disk"])
def test_with_allow_rolling_the_same_edit_makes_the_nodes_anew(name: str) -> None:
    project = Project([CLUSTER, deployment(1)])
    assert project.settle()
    edit(project, EDITS[name])
    assert project.settle()
    assert project.cloud.rolled == []
    edit(project, EDITS[name], allowRolling=True)
    assert project.settle()
    assert len(project.cloud.rolled) == 1


def test_a_provider_that_comes_after_the_cluster_was_asked_for_makes_it_and_one_that_goes_loses_nothing() -> None:
    project = Project([CLUSTER])
    project.world.present = False
    project.control.world = project.world
    project.running = False
    assert project.settle()
    assert conditions(project)["ClusterReady"]["reason"] == "ProviderMissing"
    assert project.cloud.bill() == []
    project.world.present = project.running = True
    project.control.world = project.world
    assert project.settle()
    assert is_ready(project)
    whole = project.cloud.bill()
    project.running = False
    assert project.settle()
    assert (project.cloud.bill(), is_ready(project)) == (whole, True)


def test_a_cluster_whose_api_is_dead_is_billed_until_its_barrier_only_observes_and_then_the_rest_is_named() -> None:
    project = Project([CLUSTER], GoogleCloud(1))
    assert project.settle()
    project.dead.add("eu-1")
    project.control.delete("InferenceCluster", None, "eu-1")
    assert project.settle()
    assert "Cluster" in dict(project.cloud.bill()), "its load balancer may still be there"
    (barrier,) = [each for each in project.control.list(OBJECT) if each["metadata"].get("deletionTimestamp")]
    # docs/make-a-cluster.md, "Where its API server is gone".
    project.control.apply({**barrier, "spec": {**barrier["spec"], "managementPolicies": ["Observe"]}})
    assert project.settle()
    assert {kind for kind, _ in project.cloud.bill()} == {BALANCER, FIREWALL, "Network"}
    for place in project.cloud.bill():
        if place[0] in (BALANCER, FIREWALL):
            project.cloud.remove(place)
    assert project.settle()
    assert project.cloud.bill() == []
    assert left(project) == []


def test_a_cluster_that_is_abandoned_before_goes_without_its_api() -> None:
    project = Project([CLUSTER, deployment(1)], GoogleCloud(1))
    assert project.settle()
    project.dead.add("eu-1")
    abandoned = {**CLUSTER["metadata"], "annotations": {"modelplane.ai/abandon": "true"}}
    project.control.apply({**CLUSTER, "metadata": abandoned})
    project.settle()
    project.control.delete("InferenceCluster", None, "eu-1")
    project.control.delete("ModelDeployment", "ml", "chat")
    assert project.settle()
    assert {kind for kind, _ in project.cloud.bill()} == {BALANCER, FIREWALL, "Network"}


def test_twenty_clusters_come_up_beside_each_other_and_stay_small() -> None:
    names = [f"site-{number}" for number in range(20)]
    networks = {name: {"network": {"cidr": f"10.{number}.0.0/16"}} for number, name in enumerate(names)}
    fleet = [made.cluster(made.pool("a", nodeCount=1), name=name, gke=networks[name]) for name in names]
    project = Project(fleet, GoogleCloud(1))
    assert project.settle()
    assert [name for name in names if not is_ready(project, name)] == []
    sizes = [len(json.dumps(each, separators=(",", ":"))) for each in project.control.list("InferenceCluster")]
    assert max(sizes) <= 6_000, "a pass that places reads 1,000 of them: 6 MB"
