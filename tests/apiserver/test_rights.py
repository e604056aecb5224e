"""Who may do what with Modelplane's objects, by the roles and policies of install/."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from apiserver.installed import installed, refusal, refusal_of_change
from apiserver.server import Server
from modelplane.model.names import API_VERSION, GROUP, LABEL_CLUSTER, SYSTEM_NAMESPACE
from modelplane.observed.fields import RESOURCE_NAME
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Api, ApiError, Kind
from modelplane_dev.plane.cluster import ACCOUNTS, ADMIN, CROSSPLANE, EVERYWHERE, PLATFORM, TEAM, namespace
from modelplane_dev.plane.waiting import eventually

Manifest = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
PROVIDER = "kubernetes.m.crossplane.io"
NAMESPACE, OTHER = "ml", "team"
REPLICA = Kind(API_VERSION, "ModelReplica")
VIEWER = "viewer"


def subject(user: str) -> Manifest:
    """Return a user of the server as a subject of a binding."""
    name = f"system:serviceaccount:{ACCOUNTS[user]}" if user in ACCOUNTS else user
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def binding(role: str, user: str, *, within: str | None = None, kind: str = "ClusterRole") -> Manifest:
    """Return the binding of a role to a user, in a namespace or in the cluster."""
    where = {"namespace": within} if within else {}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if within else "ClusterRoleBinding",
        "metadata": {"name": f"{role}-{user}-{kind.lower()}", **where},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": [subject(user)],
    }


def obj(config: str = "east", name: str = "stranger") -> Manifest:
    """Return an Object that acts on the cluster of a ClusterProviderConfig."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    reference = {"kind": "ClusterProviderConfig", "name": config}
    return {
        "apiVersion": f"{PROVIDER}/v1alpha1",
        "kind": "Object",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"forProvider": {"manifest": manifest}, "providerConfigRef": reference},
    }


def replica(cluster: str = "east", label: str | None = "east", where: str = NAMESPACE, **metadata: Any) -> Manifest:
    """Return a ModelReplica as somebody writes it by hand."""
    labels = {LABEL_CLUSTER: label} if label else {}
    container = {"name": "engine", "image": "registry.example.org/engine:v1"}
    claims = [{"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1}]
    template = {"spec": {"containers": [container]}}
    member = {"role": "Standalone", "nodePoolName": "h200", "deviceRequests": claims, "template": template}
    return {
        "apiVersion": REPLICA.api_version,
        "kind": REPLICA.kind,
        "metadata": {"name": "by-hand", "namespace": where, "labels": labels, **metadata},
        "spec": {"clusterName": cluster, "engines": [{"name": "main", "members": [member]}]},
    }


@pytest.fixture(scope="module")
def ruled(server: Server) -> Iterator[Server]:
    """Apply the roles and policies, and bind them as the page does; Crossplane and the team may do anything besides.

    What they are refused is then the policies' work alone. The viewer and the platform have their roles and no more.
    """
    more = [
        binding("modelplane-team", "member", within=NAMESPACE),
        binding("modelplane-view", VIEWER),
        binding("modelplane-platform", PLATFORM),
        binding("modelplane-platform", PLATFORM, within=SYSTEM_NAMESPACE, kind="Role"),
        binding("cluster-reader-writer", TEAM),
        binding("cluster-reader-writer", CROSSPLANE),
        binding("modelplane-cluster-configs", CROSSPLANE),
        # Every right but `use`, as Crossplane's own role for those who edit gives it.
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "cluster-reader-writer"},
            "rules": [
                {
                    "apiGroups": ["*"],
                    "resources": ["*"],
                    "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
                }
            ],
        },
    ]

    def refuses() -> None:
        assert "gives every right" in refusal(server, TEAM, obj())
        assert "carries its cluster as a label" in refusal(server, TEAM, replica(label=None))
        assert "acts with the rights" in refusal(server, TEAM, CONFIGS["the provider's own identity"])
        assert "only Modelplane makes" in refusal(server, TEAM, endpoint({**OWNER, "controller": True}))
        assert "own namespace alone" in refusal(server, TEAM, REFERENCES["an object of another namespace"][0])

    def takes() -> None:
        assert server.refusal(replica(label=None)) == ""

    with installed(server, "rights.yaml", *more, in_force=refuses, lifted=takes) as running:
        yield running


READ, WRITE = ("get", "list", "watch"), ("create", "update", "patch", "delete")
OF_A_TEAM = ("modelcaches", "modeldeployments", "modelendpoints", "modelservices")
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
    Right("member", ("use",), PROVIDER, ("clusterproviderconfigs", "providerconfigs"), None, may=False),
    Right("member", READ, "", ("secrets",), NAMESPACE, may=False),
    Right(VIEWER, READ, GROUP, (*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"), OTHER, may=True),
    Right(VIEWER, WRITE, GROUP, (*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"), OTHER, may=False),
    Right(VIEWER, READ, "", ("secrets",), SYSTEM_NAMESPACE, may=False),
    Right(PLATFORM, (*READ, *WRITE), GROUP, (*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"), OTHER, may=True),
    Right(PLATFORM, ("update", "patch"), GROUP, ("modelreplicas/status", "inferenceclusters/status"), OTHER, may=False),
    Right(PLATFORM, ("use",), PROVIDER, ("clusterproviderconfigs", "providerconfigs"), None, may=True),
    Right(PLATFORM, (*READ, *WRITE), "", ("secrets",), SYSTEM_NAMESPACE, may=True),
    Right(PLATFORM, READ, "", ("secrets",), OTHER, may=False),
)


def test_every_kind_is_in_the_roles() -> None:
    kinds = {file.parent.name for file in (ROOT / "apis").glob("*/definition.yaml")}
    assert {*OF_A_TEAM, *OF_THE_PLATFORM, "modelreplicas"} == kinds


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


@pytest.mark.parametrize(("user", "words"), [(TEAM, "ClusterProviderConfig east gives every right"), (CROSSPLANE, "")])
def test_only_who_may_use_a_cluster_provider_config_makes_objects_that_name_it(
    ruled: Server, user: str, words: str
) -> None:
    refused = refusal(ruled, user, obj())
    assert words in refused if words else refused == ""


def test_an_object_of_crossplane_is_turned_to_nothing_else_and_anybody_who_may_deletes_it(ruled: Server) -> None:
    made, crossplane, team = obj(), ruled.cluster.api_of(CROSSPLANE), ruled.cluster.api_of(TEAM)
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    crossplane.request("POST", ruled.path(made), made)
    turned = {"spec": {"forProvider": {"manifest": {"kind": "Secret", "metadata": {"namespace": "kube-system"}}}}}
    elsewhere = {"spec": {"providerConfigRef": {"kind": "ProviderConfig", "name": "nothing"}}}
    assert "gives every right" in refusal_of_change(team, path, elsewhere)
    assert "gives every right" in refusal_of_change(team, path, turned)
    assert "gives every right" in refusal_of_change(team, path, {"spec": {"providerConfigRef": {"name": "west"}}})
    assert refusal_of_change(team, path, {"metadata": {"finalizers": ["example.org/wait"]}}) == ""
    assert refusal_of_change(crossplane, path, turned) == ""
    team.request("DELETE", path)


#: What leaves on a cluster what an Object has made there, once it is deleted.
LEFT: dict[str, Manifest] = {
    "it is paused": {"annotations": {"crossplane.io/paused": "true"}},
    "it is called something else": {"annotations": {"crossplane.io/external-name": "other"}},
    "the provider does not end it": {"finalizers": []},
    "others end it": {"finalizers": ["example.org/wait"]},
}


@pytest.mark.parametrize("change", LEFT.values(), ids=LEFT)
def test_only_who_may_use_its_config_lets_an_object_leave_what_it_has_made(ruled: Server, change: Manifest) -> None:
    made = obj()
    made["metadata"]["finalizers"] = ["finalizer.managedresource.crossplane.io"]
    path, api = f"{ruled.path(made)}/{made['metadata']['name']}", ruled.cluster.api
    api.request("POST", ruled.path(made), made)
    try:
        assert "gives every right" in refusal_of_change(ruled.cluster.api_of(TEAM), path, {"metadata": change})
        assert refusal_of_change(ruled.cluster.api_of(CROSSPLANE), path, {"metadata": change}) == ""
        more = {"finalizers": [*made["metadata"]["finalizers"], "foregroundDeletion"]}
        assert refusal_of_change(ruled.cluster.api_of(TEAM), path, {"metadata": more}) == ""
    finally:
        api.request("PATCH", path, {"metadata": {"finalizers": []}}, "application/merge-patch+json")
        api.request("DELETE", path)


def referring(**reference: Manifest) -> Manifest:
    """Return an Object on a ProviderConfig of its namespace, with one reference."""
    made = obj()
    own = {"kind": "ProviderConfig", "name": "own"}
    return {**made, "spec": {**made["spec"], "providerConfigRef": own, "references": [reference]}}


def secret_of(where: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "name": "token", "namespace": where}


#: References of Objects, and whether only who may use every ClusterProviderConfig may write them.
REFERENCES: dict[str, tuple[Manifest, bool]] = {
    "a value of another namespace": (referring(patchesFrom={**secret_of(OTHER), "fieldPath": "data"}), True),
    "an object of another namespace": (referring(dependsOn=secret_of(SYSTEM_NAMESPACE)), True),
    "a value of its own namespace": (referring(patchesFrom={**secret_of(NAMESPACE), "fieldPath": "data"}), False),
    "an object of its own namespace": (referring(dependsOn=secret_of(NAMESPACE)), False),
}


@pytest.mark.parametrize(("made", "foreign"), REFERENCES.values(), ids=REFERENCES)
def test_an_object_refers_to_its_own_namespace_alone(ruled: Server, made: Manifest, foreign: bool) -> None:
    assert ("spec.references may name objects of the Object's own namespace" in refusal(ruled, TEAM, made)) is foreign
    assert foreign or refusal(ruled, TEAM, made) == ""
    for user in (CROSSPLANE, ADMIN):
        assert refusal(ruled, user, made) == ""


def test_an_object_is_not_turned_to_another_namespace_and_one_that_refers_there_is_finalized(ruled: Server) -> None:
    (foreign, _), (own, _) = REFERENCES["a value of another namespace"], REFERENCES["a value of its own namespace"]
    crossplane, team = ruled.cluster.api_of(CROSSPLANE), ruled.cluster.api_of(TEAM)
    path = f"{ruled.path(own)}/{own['metadata']['name']}"
    crossplane.request("POST", ruled.path(own), own)
    try:
        turned = {"spec": {"references": foreign["spec"]["references"]}}
        assert "own namespace alone" in refusal_of_change(team, path, turned)
        crossplane.request("PATCH", path, turned, "application/merge-patch+json")
        assert refusal_of_change(team, path, {"metadata": {"finalizers": ["example.org/wait"]}}) == ""
    finally:
        crossplane.request("DELETE", path)


def config(**credentials: Any) -> Manifest:
    """Return a ProviderConfig of a namespace."""
    metadata = {"name": "own", "namespace": NAMESPACE}
    kind = {"apiVersion": f"{PROVIDER}/v1alpha1", "kind": "ProviderConfig"}
    return {**kind, "metadata": metadata, "spec": {"credentials": credentials}}


KUBECONFIG = {"name": "east-kubeconfig", "key": "kubeconfig"}
CONFIGS = {
    "the provider's own identity": config(source="InjectedIdentity"),
    "a Secret of another namespace": config(source="Secret", secretRef={"namespace": SYSTEM_NAMESPACE, **KUBECONFIG}),
    "a kubeconfig that may run commands": config(source="Secret", secretRef={"namespace": NAMESPACE, **KUBECONFIG}),
}


@pytest.mark.parametrize("made", CONFIGS.values(), ids=CONFIGS)
def test_only_who_may_use_it_in_the_cluster_makes_a_provider_config_of_a_namespace(
    ruled: Server, made: Manifest
) -> None:
    assert "ProviderConfig own acts with the rights of its provider" in refusal(ruled, TEAM, made)
    assert refusal(ruled, CROSSPLANE, made) == ""


def test_a_role_with_every_verb_in_a_namespace_does_not_make_provider_configs(ruled: Server) -> None:
    everything = [{"apiGroups": [PROVIDER], "resources": ["*"], "verbs": ["*"]}]
    kind = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole"}
    ruled.cluster.api.apply({**kind, "metadata": {"name": "editor"}, "rules": everything})
    ruled.cluster.api.apply(binding("editor", TEAM, within=NAMESPACE))
    try:
        assert "acts with the rights of its provider" in refusal(ruled, TEAM, CONFIGS["the provider's own identity"])
        assert "gives every right" in refusal(ruled, TEAM, obj())
    finally:
        api = ruled.cluster.api
        api.request("DELETE", f"/apis/{RBAC}/v1/namespaces/{NAMESPACE}/rolebindings/editor-{TEAM}-clusterrole")
        api.request("DELETE", f"/apis/{RBAC}/v1/clusterroles/editor")


OWNER = {"apiVersion": API_VERSION, "kind": "ModelDeployment", "name": "chat", "uid": "1"}


def endpoint(*owners: Manifest, url: str = "http://vault.vault.svc:8200") -> Manifest:
    """Return a ModelEndpoint as a ModelDeployment composes one, but for its URL."""
    metadata = {"name": "chat-east-0", "namespace": NAMESPACE, "ownerReferences": list(owners)}
    spec = {"url": url, "host": f"chat-east-0.{NAMESPACE}.east.replicas.modelplane.internal"}
    return {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}


def test_nobody_but_modelplane_makes_what_a_model_deployment_controls(ruled: Server) -> None:
    controller, words = (
        {**OWNER, "controller": True},
        "only Modelplane makes and changes what a composite such as a ModelDeployment controls",
    )
    for made in (endpoint(controller), replica(ownerReferences=[controller])):
        assert words in refusal(ruled, TEAM, made)
        for user in (CROSSPLANE, PLATFORM, ADMIN):
            assert refusal(ruled, user, made) == ""
    for made in (endpoint(OWNER), endpoint(), replica(ownerReferences=[OWNER])):
        assert refusal(ruled, TEAM, made) == ""


#: What somebody changes of a ModelEndpoint: whether that is refused where a ModelDeployment controls it, and else.
CHANGES: dict[str, tuple[Manifest, bool, bool]] = {
    "where it leads": ({"spec": {"url": "http://vault.vault.svc"}}, True, False),
    "its labels": ({"metadata": {"labels": {"app": "mine"}}}, False, False),
    "who controls it": ({"metadata": {"ownerReferences": [{**OWNER, "uid": "2", "controller": True}]}}, True, True),
    "that its owner controls it": ({"metadata": {"ownerReferences": [{**OWNER, "controller": True}]}}, False, True),
    "that nobody does, as the garbage collector does": ({"metadata": {"ownerReferences": []}}, False, False),
    "its finalizers, as the garbage collector does": ({"metadata": {"finalizers": ["example.org/wait"]}}, False, False),
}


@pytest.mark.parametrize("controlled", [True, False])
@pytest.mark.parametrize(("change", "of_controlled", "of_other"), CHANGES.values(), ids=CHANGES)
def test_nobody_but_modelplane_changes_what_a_model_deployment_controls(
    ruled: Server, change: Manifest, of_controlled: bool, of_other: bool, controlled: bool
) -> None:
    made = endpoint({**OWNER, "controller": controlled}, url="https://east.example.com")
    crossplane, team = ruled.cluster.api_of(CROSSPLANE), ruled.cluster.api_of(TEAM)
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    crossplane.request("POST", ruled.path(made), made)
    try:
        refused = "only Modelplane makes and changes" in refusal_of_change(team, path, change)
        assert refused is (of_controlled if controlled else of_other)
        assert "only Modelplane" not in refusal_of_change(crossplane, path, change)
    finally:
        crossplane.request("DELETE", path)


def annotated(manifest: Manifest, resource: str | None) -> Manifest:
    """Return an object as it is composed as a resource, or with None as it is written by hand."""
    annotations = {RESOURCE_NAME: resource} if resource else {}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


NOWHERE = {"kind": "ProviderConfig", "name": "nothing"}
#: Objects of each kind that is composed in the namespace of a team, which nobody controls and no other policy refuses.
PREPARED: dict[str, Manifest] = {
    "Object": {**obj(name="chat-0123456789ab"), "spec": {**obj()["spec"], "providerConfigRef": NOWHERE}},
    "ModelReplica": replica(name="chat-east-0-deadbeef"),
    "ModelEndpoint": endpoint(url="https://east.example.com"),
    "HTTPRoute": {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "chat-deadbeef", "namespace": NAMESPACE},
        "spec": {"hostnames": ["chat.example.com"]},
    },
}
#: What an object is composed by: the composite is its controller.
CONTROLLER = {**OWNER, "controller": True, "blockOwnerDeletion": True}


#: Something else under the uid of what composes, which an apply would make to that.
IMPOSTOR = {**CONTROLLER, "apiVersion": "example.org/v1", "kind": "Foo"}


@pytest.mark.parametrize(("user", "owners"), [(TEAM, []), (None, [IMPOSTOR])], ids=["no owner", "a false owner"])
@pytest.mark.parametrize("made", PREPARED.values(), ids=PREPARED)
def test_crossplane_takes_over_nothing_that_was_written_by_hand_under_the_name_of_what_it_composes(
    ruled: Server, made: Manifest, user: str | None, owners: list[Manifest]
) -> None:
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    prepared = {**made, "metadata": {**made["metadata"], "ownerReferences": owners}}
    (ruled.cluster.api_of(user) if user else ruled.cluster.api).request("POST", ruled.path(made), prepared)
    try:
        assert "Crossplane does not take over" in applied(ruled, made)
    finally:
        ruled.cluster.api.request("DELETE", path)


@pytest.mark.parametrize("made", PREPARED.values(), ids=PREPARED)
def test_crossplane_takes_over_what_is_left_of_a_composite_or_put_back_from_a_backup(
    ruled: Server, made: Manifest
) -> None:
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    ruled.cluster.api_of(PLATFORM if made["apiVersion"] == API_VERSION else ADMIN).request(
        "POST", ruled.path(made), annotated(made, "main")
    )
    try:
        assert applied(ruled, made) == ""
    finally:
        ruled.cluster.api.request("DELETE", path)


def applied(ruled: Server, made: Manifest) -> str:
    """Return the words with which Crossplane is refused to apply an object as its composite has composed it."""
    composed = annotated(made, "main")
    composed["metadata"] = {**composed["metadata"], "ownerReferences": [CONTROLLER]}
    path = f"{ruled.path(made)}/{made['metadata']['name']}?dryRun=All&force=true&fieldManager=crossplane"
    try:
        ruled.cluster.api_of(CROSSPLANE).request("PATCH", path, composed, "application/apply-patch+yaml")
    except ApiError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("made", PREPARED.values(), ids=PREPARED)
def test_nobody_but_modelplane_says_what_an_object_was_composed_as(ruled: Server, made: Manifest) -> None:
    words, team = "only Modelplane makes and changes", ruled.cluster.api_of(TEAM)
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    claims = {**made, "metadata": {**made["metadata"], "ownerReferences": [CONTROLLER]}}
    assert refusal(ruled, TEAM, made) == ""
    for claimed in (annotated(made, "main"), claims):
        assert words in refusal(ruled, TEAM, claimed)
        assert refusal(ruled, ADMIN, claimed) == ""
    ruled.cluster.api_of(CROSSPLANE).request("POST", ruled.path(made), annotated(made, "main"))
    try:
        for resource in ("other", None):
            change = {"metadata": {"annotations": {RESOURCE_NAME: resource}}}
            assert words in refusal_of_change(team, path, change)
            assert refusal_of_change(ruled.cluster.api_of(CROSSPLANE), path, change) == ""
        assert refusal_of_change(team, path, {"metadata": {"annotations": {"example.org/note": "mine"}}}) == ""
        assert refusal_of_change(team, path, {"metadata": {"finalizers": ["example.org/wait"]}}) == ""
    finally:
        ruled.cluster.api.request("DELETE", path)


@pytest.mark.parametrize("made", PREPARED.values(), ids=PREPARED)
def test_nobody_but_modelplane_adds_an_owner_with_which_an_object_outlives_its_composite(
    ruled: Server, made: Manifest
) -> None:
    path, team = f"{ruled.path(made)}/{made['metadata']['name']}", ruled.cluster.api_of(TEAM)
    composed = annotated(made, "main")
    composed["metadata"]["ownerReferences"] = [CONTROLLER]
    ruled.cluster.api_of(CROSSPLANE).request("POST", ruled.path(made), composed)
    more = [CONTROLLER, {"apiVersion": "v1", "kind": "ConfigMap", "name": "keep", "uid": "2"}]
    try:
        added = {"metadata": {"ownerReferences": more}}
        assert "only Modelplane makes and changes" in refusal_of_change(team, path, added)
        assert refusal_of_change(ruled.cluster.api_of(CROSSPLANE), path, added) == ""
        assert refusal_of_change(team, path, {"metadata": {"ownerReferences": []}}) == ""
    finally:
        ruled.cluster.api.request("DELETE", path)


#: What somebody changes of the spec of each kind.
OTHER_SPECS: dict[str, Manifest] = {
    "Object": {"forProvider": {"manifest": {"data": {"more": "mine"}}}},
    "ModelReplica": {"engines": [{**replica()["spec"]["engines"][0], "copies": 64}]},
    "ModelEndpoint": {"url": "https://west.example.com"},
    "HTTPRoute": {"hostnames": ["west.example.com"]},
}


@pytest.mark.parametrize(("kind", "spec"), OTHER_SPECS.items(), ids=OTHER_SPECS)
def test_nobody_but_modelplane_changes_what_is_left_of_a_composite(ruled: Server, kind: str, spec: Manifest) -> None:
    made = PREPARED[kind]
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    ruled.cluster.api_of(CROSSPLANE).request("POST", ruled.path(made), annotated(made, "main"))
    try:
        refused = refusal_of_change(ruled.cluster.api_of(TEAM), path, {"spec": spec})
        assert "only Modelplane makes and changes" in refused
        assert "only Modelplane" not in refusal_of_change(ruled.cluster.api_of(CROSSPLANE), path, {"spec": spec})
    finally:
        ruled.cluster.api.request("DELETE", path)


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
        eventually(lambda: _assert_left(api, where, {"alone"}), within=120)
        api.request("DELETE", f"/api/v1/namespaces/{where}")
        eventually(lambda: _assert_left(api, where, set()), within=120)


def _assert_left(api: Api, where: str, names: set[str]) -> None:
    assert {found["metadata"]["name"] for found in api.list(REPLICA, where)} == names
