"""What an engine names of its team's Secrets and ConfigMaps reaches the cluster by reference, and no other way."""

from typing import Any

import pytest

from modelplane.compose_replica.source_copies import SOURCE_LIMIT
from modelplane.model.conditions import Status
from unit.compose_replica import replicas as given


def ref(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    key = {"Secret": "secretKeyRef", "ConfigMap": "configMapKeyRef"}[kind]
    return {"name": name.upper(), "valueFrom": {key: {"name": name, "key": "k", **fields}}}


def naming(*env: dict[str, Any], pull: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """Return a replica whose engine names Secrets and ConfigMaps."""
    pod = {"containers": [given.container(env=list(env))], "imagePullSecrets": [{"name": name} for name in pull]}
    return given.replica(given.engine(members=[given.member(template={"spec": pod})]), **fields)


ALL = naming(ref("Secret", "token"), ref("ConfigMap", "flags"), pull=("registry",))


def copies(body: dict[str, Any], *args: Any, **kwargs: Any) -> dict[str, dict[str, Any]]:
    desired = given.run(body, *args, **kwargs).desired
    return {name: dict(desired[name].build()) for name in desired if name.startswith("copy-")}


def test_every_source_has_one_object_that_takes_its_data_by_reference() -> None:
    found = copies(ALL)
    assert set(found) == {"copy-secret-token", "copy-configmap-flags", "copy-secret-registry"}
    for resource, body in found.items():
        _, kind, name = resource.split("-")
        (patch,) = body["spec"]["references"]
        of = {"secret": "Secret", "configmap": "ConfigMap"}[kind]
        source = {"apiVersion": "v1", "kind": of, "namespace": "team", "name": name, "fieldPath": "data"}
        assert patch == {"patchesFrom": source, "toFieldPath": "data"}
        assert body["spec"]["watch"] is True
        manifest = body["spec"]["forProvider"]["manifest"]
        assert (manifest["metadata"]["name"], manifest["metadata"]["namespace"]) == (name, "mp-team")
        assert not {"data", "stringData", "binaryData"} & manifest.keys()


def test_what_kubernetes_writes_into_every_namespace_is_not_copied_over_that_of_the_cluster() -> None:
    ours = ref("Secret", "kube-root-ca.crt")
    assert set(copies(naming(ref("ConfigMap", "kube-root-ca.crt"), ours))) == {"copy-secret-kube-root-ca.crt"}


def test_a_copied_secret_keeps_its_type() -> None:
    found = copies(ALL)
    assert found["copy-secret-token"]["spec"]["forProvider"]["manifest"]["type"] == "Opaque"
    assert found["copy-secret-registry"]["spec"]["forProvider"]["manifest"]["type"] == "kubernetes.io/dockerconfigjson"
    assert "type" not in found["copy-configmap-flags"]["spec"]["forProvider"]["manifest"]


def test_what_the_provider_patched_in_is_neither_applied_again_nor_taken_for_a_change() -> None:
    observed = given.serving(ALL)
    for resource in ("copy-secret-token", "copy-configmap-flags"):
        observed[resource]["spec"]["forProvider"]["manifest"]["data"] = {"k": "patched-in"}
    result = given.run(ALL, observed)
    assert given.condition(result, "ModelAccepted").status is Status.TRUE
    assert "patched-in" not in repr([desired.build() for desired in result.desired.values()]) + repr(result.status)


MISSING = {
    "pull secret": (
        naming(pull=("registry",)),
        "Secret-registry",
        "Secret team/registry does not exist; engine main pulls its image with it. Create it.",
    ),
    "secret of env": (
        naming(ref("Secret", "t")),
        "Secret-t",
        "Secret team/t does not exist; engine main reads it in env T. Create it.",
    ),
    "config map": (
        naming(ref("ConfigMap", "f")),
        "ConfigMap-f",
        "ConfigMap team/f does not exist; engine main reads it in env F. Create it.",
    ),
    "optional once and needed once": (
        naming(ref("Secret", "t", optional=True), {**ref("Secret", "t"), "name": "NEEDED"}),
        "Secret-t",
        "Secret team/t does not exist; engine main reads it in env NEEDED. Create it.",
    ),
}


def several(names: str) -> dict[str, Any]:
    pod = {"spec": {"containers": [given.container(env=[ref("Secret", "t")])]}}
    return given.replica(*(given.engine(name, members=[given.member(template=pod)]) for name in names))


@pytest.mark.proves("P74")
@pytest.mark.parametrize(
    ("names", "used"),
    [
        ("ab", "engine a reads it in env T (so does engine b)"),
        ("abc", "engine a reads it in env T (so do 2 more engines)"),
    ],
)
def test_a_missing_source_of_several_engines_is_said_once(names: str, used: str) -> None:
    accepted = given.condition(given.run(several(names), {}, **{"source-Secret-t": []}), "ModelAccepted")
    assert accepted.message.count("does not exist") == 1
    assert f"Secret team/t does not exist; {used}. Create it." in accepted.message


@pytest.mark.parametrize("fetched", [True, False])
@pytest.mark.parametrize(("body", "source", "words"), MISSING.values(), ids=MISSING)
def test_a_missing_source_is_named_and_what_runs_keeps_running(
    body: dict[str, Any], source: str, words: str, fetched: bool
) -> None:
    running = given.serving(given.replica())
    answer: dict[str, Any] = {f"source-{source}": [] if fetched else None}
    for observed in ({}, running):
        result = given.run(body, observed, **answer)
        accepted = given.condition(result, "ModelAccepted")
        assert (accepted.status, accepted.reason) == (Status.FALSE, "Deploying")
        missing, _, _ = words.partition(" does not exist")
        assert (words if fetched else f"{missing} is not fetched yet.") in accepted.message
        assert {name: d.build()["spec"] for name, d in result.desired.items()} == {
            name: found["spec"] for name, found in observed.items()
        }
        assert result.ready is bool(observed)


def source(kind: str, **data: str) -> dict[str, Any]:
    """Return a Secret or a ConfigMap with these values."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "t", "namespace": "team"}, "data": data}


ADD = "Add it, or name one of the keys that it has"
#: What an engine names, what is there, and what is said of it; "" for nothing.
KEYS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "there": (naming(ref("Secret", "t")), source("Secret", k="dg==", a="dg=="), ""),
    "not there": (
        naming(ref("Secret", "t")),
        source("Secret", b="dg==", a="dg=="),
        f"Secret team/t has no key k; engine main reads it in env T. {ADD}: a, b.",
    ),
    "not in a ConfigMap": (
        naming(ref("ConfigMap", "t")),
        source("ConfigMap", a="v"),
        f"ConfigMap team/t has no key k; engine main reads it in env T. {ADD}: a.",
    ),
    "optional": (naming(ref("Secret", "t", optional=True)), source("Secret", a="dg=="), ""),
    "of a Secret that pulls an image": (naming(pull=("t",)), source("Secret", a="dg=="), ""),
    "of a Secret of which nothing is known": (naming(ref("Secret", "t")), source("Secret"), ""),
}


@pytest.mark.parametrize(("body", "there", "words"), KEYS.values(), ids=KEYS)
def test_a_key_that_an_engine_reads_and_its_source_lacks_is_named_with_the_keys_that_it_has(
    body: dict[str, Any], there: dict[str, Any], words: str
) -> None:
    running = given.serving(given.replica())
    answer = {f"source-{there['kind']}-t": [there]}
    for observed in ({}, running):
        result = given.run(body, observed, **answer)
        accepted = given.condition(result, "ModelAccepted")
        if not words:
            assert "has no key" not in accepted.message
            assert any(name.startswith("copy-") for name in result.desired)
        else:
            assert (accepted.status, accepted.reason) == (Status.FALSE, "Deploying")
            assert words in accepted.message
            assert "dg==" not in accepted.message
            assert {name: each.build()["spec"] for name, each in result.desired.items()} == {
                name: found["spec"] for name, found in observed.items()
            }


def test_an_optional_source_that_is_missing_stops_nothing_and_is_copied_once_it_is_there() -> None:
    body = naming(ref("Secret", "token", optional=True))
    assert "deployment-main" in given.run(body, None, **{"source-Secret-token": []}).desired
    assert copies(body, **{"source-Secret-token": []}) == {}
    assert set(copies(body)) == {"copy-secret-token"}


def many(count: int) -> dict[str, Any]:
    return naming(*(ref("Secret", f"s{number}") for number in range(count)))


@pytest.mark.parametrize("observed", [{}, given.serving(given.replica())], ids=["new", "serving"])
def test_more_sources_than_are_copied_are_refused_and_what_runs_stays(observed: dict[str, Any]) -> None:
    assert len(copies(many(SOURCE_LIMIT))) == SOURCE_LIMIT
    result = given.run(many(SOURCE_LIMIT + 1), observed)
    assert result.desired.keys() == observed.keys()
    assert [asked.kind for asked in result.requirements] == ["InferenceCluster"]
    accepted = given.condition(result, "ModelAccepted")
    assert accepted.reason == "InvalidEngine"
    assert "the engines name 65 Secrets and ConfigMaps, at most 64 are copied. Put several keys" in accepted.message


def test_a_source_that_is_no_longer_named_is_no_longer_copied() -> None:
    assert copies(naming(), given.serving(ALL)) == {}


def test_the_copy_of_a_source_that_is_gone_stays_as_it_is_while_it_is_named() -> None:
    observed = given.serving(ALL)
    result = given.run(ALL, observed, **{"source-Secret-token": []})
    assert result.desired["copy-secret-token"].build()["spec"] == observed["copy-secret-token"]["spec"]
    assert "Secret team/token does not exist" in given.condition(result, "ModelAccepted").message


def sibling(name: str, uid: str, body: dict[str, Any] = ALL, **metadata: Any) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "name": name, "uid": uid, **metadata}}


def test_replicas_that_use_the_same_source_are_owners_of_one_object() -> None:
    uses, other = sibling("b", "2"), sibling("c", "3", naming())
    gone = sibling("d", "4", deletionTimestamp="2026-01-01T00:00:00Z")
    elsewhere = sibling("e", "5", {**ALL, "spec": {**ALL["spec"], "clusterName": "us-1"}})
    found = copies(sibling("a", "1"), replicas=[uses, other, gone, elsewhere, sibling("a", "1")])
    for body in found.values():
        assert body["metadata"]["ownerReferences"] == [
            {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelReplica", "name": "b", "uid": "2"}
        ]


def test_the_object_has_the_same_name_whichever_replica_composes_it_and_another_for_another_team_or_source() -> None:
    first, second = copies(sibling("a", "1")), copies(sibling("b", "2"))
    names = {name: body["metadata"]["name"] for name, body in first.items()}
    assert names == {name: body["metadata"]["name"] for name, body in second.items()}
    elsewhere = copies(sibling("a", "1", namespace="other"))
    everywhere = [*names.values(), *(body["metadata"]["name"] for body in elsewhere.values())]
    assert len(set(everywhere)) == 6
    assert all(len(name) <= 63 for name in everywhere)


def there(**metadata: Any) -> list[dict[str, Any]]:
    return [{"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", "kind": "Object", "metadata": metadata}]


def held_by(uid: str) -> dict[str, Any]:
    return {"ownerReferences": [{"kind": "ModelReplica", "name": "x", "uid": uid, "controller": True}]}


HOLDERS: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "no reader": ([], True),
    "this replica": (there(**held_by("1")), True),
    "another replica": (there(**held_by("2")), False),
    "a replica that is gone": (there(ownerReferences=[{"kind": "ModelReplica", "name": "x", "uid": "2"}]), True),
    "a person deletes it": (there(deletionTimestamp="2026-01-01T00:00:00Z"), False),
}


@pytest.mark.parametrize(("holder", "composed"), HOLDERS.values(), ids=HOLDERS)
def test_a_replica_composes_a_copy_unless_another_does(holder: list[dict[str, Any]], composed: bool) -> None:
    body = sibling("a", "1", naming(ref("Secret", "token")))
    assert bool(copies(body, **{"copy-secret-token": holder})) is composed


def test_a_replica_that_composed_a_copy_keeps_it_while_another_one_uses_it() -> None:
    body = sibling("a", "1", naming())
    observed = given.serving(ALL)
    assert set(copies(body, observed, replicas=[sibling("b", "2")])) == set(copies(ALL))
    assert copies(body, observed, replicas=[sibling("b", "2", naming())]) == {}


def test_nothing_more_is_asked_for_where_no_engine_names_a_source() -> None:
    asked = {requirement.kind for requirement in given.run(given.replica()).requirements}
    assert asked == {"InferenceCluster"}
    for requirement in given.run(ALL).requirements:
        assert requirement.match_name or requirement.kind == "ModelReplica"
        assert requirement.namespace == (None if requirement.kind == "InferenceCluster" else "team")


def test_only_the_replica_that_composes_a_copy_asks_for_the_others_of_its_team() -> None:
    body = sibling("a", "1", naming(ref("Secret", "token")))
    for holder, asks in HOLDERS.values():
        asked = given.run(body, None, **{"copy-secret-token": holder}).requirements
        assert ("ModelReplica" in {requirement.kind for requirement in asked}) is asks
