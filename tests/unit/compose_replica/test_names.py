"""Names and places on the inference cluster: legal there, apart for what is apart, the same for what is the same."""

import re
from typing import Any

import pytest

from modelplane.model.names import tenant_namespace
from unit.compose_replica import replicas as given

NAMES = ["qwen-0a1b2c3d", "3.1-llama", "a" * 49, "a" * 63, "x-" + "y" * 60]
POLL = "crossplane.io/poll-interval"


def _all(name: str, namespace: str = "team", engine: str = "main") -> dict[str, dict[str, Any]]:
    metadata = {"name": name, "namespace": namespace, "labels": {"modelplane.ai/cluster": given.CLUSTER}}
    result = given.run(given.replica(given.engine(engine), metadata=metadata))
    return {resource: given.manifest_of(result, resource) for resource in result.desired}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_legal_for_a_service_and_short_enough_for_a_gang(name: str) -> None:
    for manifest in _all(name, engine="e" * 63).values():
        found = manifest["metadata"]["name"]
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", found)
        assert len(found) <= 49


def test_everything_lives_in_the_namespace_that_mirrors_the_teams() -> None:
    for resource, manifest in _all("r", namespace="ml-team").items():
        if resource == "namespace":
            assert manifest["metadata"]["name"] == "mp-ml-team"
            assert manifest["metadata"]["labels"]["modelplane.ai/namespace"] == "ml-team"
        else:
            assert manifest["metadata"]["namespace"] == "mp-ml-team"


def test_a_namespace_whose_mirrored_name_could_be_anothers_is_claimed_before_anything_is_made_there() -> None:
    team = "n" * 62
    body = given.replica(metadata={"name": "r", "namespace": team, "labels": {"modelplane.ai/cluster": given.CLUSTER}})
    first = given.run(body)
    assert list(first.desired) == ["namespace"]
    claim = first.desired["namespace"].build()
    assert claim["spec"]["managementPolicies"] == ["Observe", "Create"]
    assert given.condition(first, "ModelAccepted").message.endswith("of the cluster is not seen yet.")
    seen = given.provided(claim)
    assert "deployment-main" in given.run(body, {"namespace": seen}).desired
    for labels, found in (
        ({"modelplane.ai/namespace": "m" * 62}, f"={'m' * 62}."),
        ({}, "no label modelplane.ai/namespace."),
    ):
        seen["status"]["atProvider"]["manifest"]["metadata"]["labels"] = labels
        refused = given.run(body, {"namespace": seen})
        assert list(refused.desired) == ["namespace"]
        assert found in given.condition(refused, "ModelAccepted").message
    assert "deployment-main" in given.run(body, {**given.serving(given.replica()), "namespace": seen}).desired


def test_a_long_namespace_is_cut_and_hashed() -> None:
    names = {tenant_namespace("n" * 62 + end) for end in "ab"}
    assert len(names) == 2
    assert all(len(name) == 63 for name in names)


@pytest.mark.parametrize("body", [given.replica(), given.replica(given.gang()), given.pair("--port=8200")])
def test_what_a_replica_has_on_its_cluster_is_adopted_by_name_under_a_new_uid(body: dict[str, Any]) -> None:
    def composed(uid: str) -> dict[str, dict[str, Any]]:
        result = given.run({**body, "metadata": {**body["metadata"], "uid": uid}})
        return {resource: given.manifest_of(result, resource) for resource in given.on_the_cluster(result)}

    assert composed("before") == composed("restored")


def test_workloads_of_different_replicas_engines_and_teams_never_share_a_name() -> None:
    places = [("a", "t", "main"), ("a", "t", "other"), ("b", "t", "main"), ("a", "u", "main"), ("a-main", "t", "x")]
    names = [_all(name, space, engine)[f"deployment-{engine}"]["metadata"]["name"] for name, space, engine in places]
    assert len(set(names)) == len(places)


def test_the_namespace_and_its_walls_outlive_their_objects_and_everything_else_goes_with_it() -> None:
    observed = given.serving(given.replica())
    result = given.run(given.replica(), observed)
    specs = {resource: desired.build()["spec"] for resource, desired in result.desired.items()}
    for shared in ("namespace", "network-policy"):
        assert specs.pop(shared)["managementPolicies"] == ["Observe", "Create"]
    assert not any("managementPolicies" in spec for spec in specs.values())


@pytest.mark.parametrize("body", [given.replica(), given.replica(given.gang())], ids=["standalone", "gang"])
def test_one_object_of_a_replica_keeps_the_cluster_and_does_not_look_at_it_whenever_it_changes(
    body: dict[str, Any],
) -> None:
    specs = {name: desired.build()["spec"] for name, desired in given.run(body).desired.items()}
    cluster = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceCluster", "name": "eu-1"}
    holding = {name: spec["references"] for name, spec in specs.items() if "references" in spec}
    assert holding == {"httproute": [{"dependsOn": cluster}]}
    assert "watch" not in specs["httproute"]


@pytest.mark.parametrize("body", [given.replica(), given.replica(given.gang())], ids=["standalone", "gang"])
def test_the_provider_looks_each_minute_at_workloads_alone(body: dict[str, Any]) -> None:
    made = {name: desired.build() for name, desired in given.run(body).desired.items()}
    often = {name for name, each in made.items() if POLL not in each["metadata"].get("annotations", {})}
    assert often == {name for name in made if name.startswith(("deployment-", "leaderworkerset-"))}
    assert {each["metadata"]["annotations"][POLL] for name, each in made.items() if name not in often} == {"5m"}
