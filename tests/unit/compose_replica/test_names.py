"""Names and places on the inference cluster: legal there, apart for what is apart, the same for what is the same."""

import re
from typing import Any

import pytest

from unit.compose_replica import replicas as given

NAMES = ["qwen-0a1b2c3d", "3.1-llama", "a" * 49, "a" * 63, "x-" + "y" * 60]
ROUTES = ("httproute", "httproute-path")


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


def test_a_long_namespace_is_cut_and_hashed() -> None:
    names = {_all("r", namespace="n" * 62 + end)["namespace"]["metadata"]["name"] for end in "ab"}
    assert len(names) == 2
    assert all(len(name) == 63 for name in names)


def test_workloads_of_different_replicas_engines_and_teams_never_share_a_name() -> None:
    places = [("a", "t", "main"), ("a", "t", "other"), ("b", "t", "main"), ("a", "u", "main"), ("a-main", "t", "x")]
    names = [_all(name, space, engine)[f"deployment-{engine}"]["metadata"]["name"] for name, space, engine in places]
    assert len(set(names)) == len(places)


def test_no_replica_has_the_name_of_another_ones_route() -> None:
    routes = [_all(name)[route]["metadata"]["name"] for name in ("a", "a-path") for route in ROUTES]
    assert len(set(routes)) == len(routes)


def test_the_namespace_outlives_its_object_and_everything_else_holds_the_cluster() -> None:
    result = given.run(given.replica())
    specs = {resource: desired.build()["spec"] for resource, desired in result.desired.items()}
    assert specs.pop("namespace")["managementPolicies"] == ["Observe", "Create", "Update"]
    cluster = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceCluster", "name": "eu-1"}
    for spec in specs.values():
        assert spec["references"] == [{"dependsOn": cluster}]
        assert "managementPolicies" not in spec
