"""Who may do what with Modelplane's objects, by the roles and policies of install/."""

from typing import NamedTuple

import pytest

from apiserver.installed import refusal, refusal_of_change
from apiserver.rights import KINDS, NAMESPACE, OTHER, PROVIDER, REPLICA, VIEWER, Manifest, obj, replica, subject
from apiserver.server import Server
from modelplane.model.names import GROUP, LABEL_MODEL, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import Api
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, EVERYWHERE, PLATFORM, TEAM, namespace
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import START

READ, WRITE = ("get", "list", "watch"), ("create", "update", "patch", "delete")
OF_A_TEAM = ("modelcaches", "modeldeployments", "modelendpoints", "modelservices")
#: Kinds that Modelplane composes in its own namespace: nobody writes them.
INNER = ("managedclusters", "servingstacks")
#: What the verb `use` is asked for of.
CONFIGS = ("clusterproviderconfigs", "providerconfigs")
OF_THE_PLATFORM = ("clustermodels", "inferenceclasses", "inferenceclusters", "inferencegateways")


class Right(NamedTuple):
    """Who may do what (verbs) with which resources of a group where (None: in the cluster), and whether."""

    user: str
    verbs: tuple[str, ...]
    group: str
    resources: tuple[str, ...]
    where: str | None
    may: bool


RIGHTS = (
    Right("member", (*READ, *WRITE), GROUP, OF_A_TEAM, NAMESPACE, may=True),
    Right("member", (*READ, *WRITE), GROUP, OF_A_TEAM, OTHER, may=False),
    Right("member", ("get", "update", "patch"), GROUP, ("modeldeployments/scale",), NAMESPACE, may=True),
    Right("member", READ, GROUP, ("modelreplicas",), NAMESPACE, may=True),
    Right("member", WRITE, GROUP, ("modelreplicas",), NAMESPACE, may=False),
    Right("member", ("update", "patch"), GROUP, tuple(f"{each}/status" for each in OF_A_TEAM), NAMESPACE, may=False),
    Right("member", WRITE, GROUP, OF_THE_PLATFORM, None, may=False),
    Right("member", (*READ, *WRITE), PROVIDER, ("objects",), NAMESPACE, may=False),
    Right("member", ("use",), GROUP, CONFIGS, None, may=False),
    Right(TEAM, ("use",), PROVIDER, CONFIGS, None, may=True),
    Right(TEAM, ("use",), GROUP, CONFIGS, None, may=False),
    Right(CROSSPLANE, ("use",), GROUP, CONFIGS, None, may=True),
    Right("member", READ, "", ("secrets",), NAMESPACE, may=False),
    Right(VIEWER, READ, GROUP, (*OF_A_TEAM, "modelreplicas"), OTHER, may=True),
    Right(VIEWER, READ, GROUP, (*OF_A_TEAM, "modelreplicas"), NAMESPACE, may=False),
    Right(VIEWER, READ, GROUP, OF_THE_PLATFORM, None, may=True),
    Right(VIEWER, WRITE, GROUP, (*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"), OTHER, may=False),
    Right(VIEWER, READ, "", ("secrets",), SYSTEM_NAMESPACE, may=False),
    Right(PLATFORM, (*READ, *WRITE), GROUP, (*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"), OTHER, may=True),
    Right(PLATFORM, READ, GROUP, INNER, SYSTEM_NAMESPACE, may=True),
    Right(VIEWER, READ, GROUP, INNER, OTHER, may=True),
    Right(VIEWER, READ, GROUP, INNER, SYSTEM_NAMESPACE, may=False),
    *(Right(user, WRITE, GROUP, INNER, SYSTEM_NAMESPACE, may=False) for user in ("member", VIEWER, PLATFORM)),
    Right("member", READ, GROUP, INNER, SYSTEM_NAMESPACE, may=False),
    Right(PLATFORM, ("update", "patch"), GROUP, ("modelreplicas/status", "inferenceclusters/status"), OTHER, may=False),
    Right(PLATFORM, ("use",), GROUP, CONFIGS, None, may=True),
    Right(PLATFORM, (*READ, *WRITE), "", ("secrets",), SYSTEM_NAMESPACE, may=True),
    Right(PLATFORM, READ, "", ("secrets",), OTHER, may=False),
)


def test_every_kind_is_in_the_roles() -> None:
    assert {*OF_A_TEAM, *OF_THE_PLATFORM, *INNER, "modelreplicas"} == KINDS


def test_a_replica_by_hand_keeps_no_cluster_model_from_being_deleted(ruled: Server) -> None:
    made, team = replica(), ruled.cluster.api_of(TEAM)
    labelled = {**made, "metadata": {**made["metadata"], "labels": {**made["metadata"]["labels"], LABEL_MODEL: "m"}}}
    words = "only Modelplane labels a ModelReplica with its ClusterModel"
    assert words in refusal(ruled, TEAM, labelled)
    for user in (CROSSPLANE, PLATFORM):
        assert refusal(ruled, user, labelled) == ""
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    ruled.cluster.api.request("POST", ruled.path(made), made)
    try:
        assert words in refusal_of_change(team, path, {"metadata": {"labels": {LABEL_MODEL: "m"}}})
        assert refusal_of_change(team, path, {"metadata": {"labels": {"app": "mine"}}}) == ""
    finally:
        ruled.cluster.api.request("DELETE", path)


@pytest.mark.parametrize("right", RIGHTS)
def test_a_role_gives_what_it_is_for_and_no_more(ruled: Server, right: Right) -> None:
    for resource in right.resources:
        name, _, part = resource.partition("/")
        for verb in right.verbs:
            asked = {"verb": verb, "group": right.group, "resource": name, "subresource": part}
            spec = {"user": subject(right.user)["name"], "resourceAttributes": asked | {"namespace": right.where}}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
            path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
            found = ruled.cluster.api.request("POST", path, review)
            assert found["status"]["allowed"] is right.may, asked


@pytest.mark.parametrize("user", [TEAM, PLATFORM, ADMIN])
@pytest.mark.parametrize("label", [None, "west"])
def test_a_replica_without_the_label_of_its_cluster_is_refused(ruled: Server, user: str, label: str | None) -> None:
    assert 'set metadata.labels["modelplane.ai/cluster"] to "east"' in refusal(ruled, user, replica(label=label))
    assert refusal(ruled, user, replica()) == ""


@pytest.mark.parametrize("user", [TEAM, ADMIN])
@pytest.mark.parametrize(
    ("made", "status"),
    [
        (replica(), {"served": True}),
        ({**obj(), "spec": obj()["spec"] | {"readiness": {"policy": "SuccessfulCreate"}}}, {"atProvider": {}}),
    ],
    ids=["of a ModelReplica", "of an Object, from which it is read"],
)
def test_nobody_but_crossplane_writes_a_status(ruled: Server, user: str, made: Manifest, status: Manifest) -> None:
    served = {"status": status}
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    ruled.cluster.api.request("POST", ruled.path(made), made)
    try:
        assert "only Crossplane writes the status" in refusal_of_change(
            ruled.cluster.api_of(user), f"{path}/status", served
        )
        assert refusal_of_change(ruled.cluster.api_of(CROSSPLANE), f"{path}/status", served) == ""
    finally:
        ruled.cluster.api.request("DELETE", path)


def test_garbage_collection_and_the_deletion_of_a_namespace_work_under_the_policies(ruled: Server) -> None:
    api, where = ruled.cluster.api, "rights-doomed"
    api.apply(namespace(where))
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "namespace": where}}
    made = api.apply(owner)["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": made["uid"], "controller": True}
    api.apply(replica(where=where, ownerReferences=[reference]))
    api.apply(replica(where=where, name="alone"))
    with ruled.cluster.controllers(EVERYWHERE):
        api.request("DELETE", f"/api/v1/namespaces/{where}/configmaps/owner")
        eventually(lambda: _assert_left(api, where, {"alone"}), within=START)
        api.request("DELETE", f"/api/v1/namespaces/{where}")
        eventually(lambda: _assert_left(api, where, set()), within=START)


def _assert_left(api: Api, where: str, names: set[str]) -> None:
    assert {found["metadata"]["name"] for found in api.list(REPLICA, where)} == names
