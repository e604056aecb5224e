"""Who may write what a composite controls, and what Crossplane adopts, by the policies of install/."""

import pytest

from apiserver.installed import refusal, refusal_of_change
from apiserver.rights import NAMESPACE, OWNER, Manifest, endpoint, obj, replica
from apiserver.server import Server
from modelplane.model.names import API_VERSION
from modelplane.observed.fields import RESOURCE_NAME
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, PLATFORM, TEAM


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
