"""Who may write Objects and ProviderConfigs of provider-kubernetes, by the policies of install/."""

import pytest

from apiserver.installed import RBAC, refusal, refusal_of_change
from apiserver.rights import CONFIGS, LEGACY, NAMESPACE, PROVIDER, REFERENCES, Manifest, binding, obj
from apiserver.server import Server
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, TEAM


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


@pytest.mark.parametrize("made", LEGACY.values(), ids=LEGACY)
def test_the_earlier_kinds_of_the_provider_ask_for_the_same_right(ruled: Server, made: Manifest) -> None:
    assert "let an administrator grant you the verb use on providerconfigs.modelplane.ai" in refusal(ruled, TEAM, made)
    for user in (CROSSPLANE, ADMIN):
        assert refusal(ruled, user, made) == ""


def test_only_who_may_use_it_makes_a_provider_config_of_the_cluster_or_leads_one_elsewhere(ruled: Server) -> None:
    own = CONFIGS["the provider's own identity"]
    made = {**own, "kind": "ClusterProviderConfig", "metadata": {"name": "own"}}
    assert "ClusterProviderConfig own acts with the rights of its provider" in refusal(ruled, TEAM, made)
    assert refusal(ruled, CROSSPLANE, made) == ""


def test_an_object_of_the_earlier_kinds_is_not_changed_either(ruled: Server) -> None:
    made, crossplane = LEGACY["an Object"], ruled.cluster.api_of(CROSSPLANE)
    path = f"{ruled.path(made)}/{made['metadata']['name']}"
    crossplane.request("POST", ruled.path(made), made)
    try:
        turned = {"spec": {"forProvider": {"manifest": {"data": {"more": "mine"}}}}}
        assert "gives every right" in refusal_of_change(ruled.cluster.api_of(TEAM), path, turned)
        assert refusal_of_change(crossplane, path, turned) == ""
    finally:
        crossplane.request("DELETE", path)
