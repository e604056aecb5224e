"""A cluster whose spec cannot be carried out keeps all it has, and says what is in the way."""

from typing import Any

import pytest

from modelplane.api.inferencecluster import InferenceClusterStatus
from modelplane.model.conditions import Status
from unit.compose_cluster import clusters as given

LAST = {
    "namespace": "modelplane-system",
    "providerConfigRef": {"name": "eu-1"},
    "gateway": {"address": "gw.example.org", "hostname": "gw.example.org"},
    "cache": {"storageClassName": "rwx"},
    "gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4]}],
    "replicas": 3,
}
#: A status with every field; a new one has to have a value here.
WHOLE = LAST | {
    "clusterUID": "0a1b",
    "sharedWith": ["eu-2"],
    "teamIsolation": {"isolation": "Open"},
    "charges": {"residents": "0a1b2c3d", "published": True},
}
EXISTING = given.cluster()["spec"]["cluster"]
SPECS: dict[str, tuple[Any, str, str]] = {
    "no spec": (None, "Provisioning", "InferenceCluster eu-1: spec"),
    "no source": ({"cluster": {}}, "Provisioning", "spec.cluster.source"),
    "no existing block": ({"cluster": {"source": "Existing"}}, "Provisioning", "spec.cluster.existing"),
    "no secret": (
        {"cluster": {"source": "Existing", "existing": {}}},
        "Provisioning",
        "spec.cluster.existing.secretRef",
    ),
    "a malformed pool": (
        {"cluster": EXISTING, "nodePools": [{"name": "l4"}]},
        "InvalidNodePool",
        "nodePools[0].className",
    ),
    "a count as text": (
        {"cluster": EXISTING, "nodePools": [given.pool(nodeCount="2")]},
        "InvalidNodePool",
        "spec.nodePools[0].nodeCount",
    ),
    "a cloud": (
        {"cluster": {"source": "AKS", "aks": {"region": "r"}}},
        "Provisioning",
        "spec.cluster.source AKS is not composed",
    ),
    "a cloud without its block": (
        {"cluster": {"source": "GKE"}},
        "Provisioning",
        "spec.cluster.gke: is required by source GKE",
    ),
    "a cloud beside an existing block": (
        {"cluster": EXISTING | {"source": "EKS", "eks": {"region": "r"}}},
        "Provisioning",
        "spec.cluster.source EKS is not composed",
    ),
}


@pytest.mark.parametrize(("spec", "reason", "words"), SPECS.values(), ids=SPECS)
def test_everything_stays_as_it_is_and_the_cause_is_named(spec: Any, reason: str, words: str) -> None:
    observed = given.reached()
    result = given.run(given.cluster(spec=spec, status=LAST), observed)
    assert {name: body["spec"] for name, body in given.bodies(result).items()} == {
        name: found["spec"] for name, found in observed.items()
    }
    ready = given.condition(result, "ClusterReady")
    assert (ready.status, ready.reason) == (Status.FALSE, reason)
    assert words in ready.message
    assert "Existing resources are unchanged." in ready.message
    assert given.status(result) == LAST
    assert result.ready is False


def test_a_cluster_that_is_held_keeps_every_field_of_its_status() -> None:
    assert WHOLE.keys() == InferenceClusterStatus.model_fields.keys() - {"conditions"}
    result = given.run(given.cluster(spec={"cluster": {}}, status=WHOLE), given.reached())
    assert given.status(result) == WHOLE


@pytest.mark.parametrize(("spec", "reason", "words"), SPECS.values(), ids=SPECS)
def test_a_new_cluster_of_that_kind_composes_nothing_and_is_not_ready(spec: Any, reason: str, words: str) -> None:
    result = given.run(given.cluster(spec=spec))
    assert result.desired == {}
    assert result.ready is False
    assert given.condition(result, "ClusterReady").reason == reason


def test_a_lost_observation_does_not_delete_what_was_composed() -> None:
    result = given.run(given.cluster(status=LAST), class_l4=None, replicas=None)
    assert "provider-config" in result.desired
    assert given.status(result)["gpuPools"] == LAST["gpuPools"]


def test_a_cluster_that_is_deleted_composes_as_before() -> None:
    observed = given.reached()
    gone = given.cluster(metadata={"name": "eu-1", "deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert given.bodies(given.run(gone, observed)) == given.bodies(given.run(given.cluster(), observed))
