"""The healthy world: what it says of each kind, and what it leaves alone."""

from typing import Any

import pytest

from modelplane.preview import healthy
from unit.preview.fakes import TEAM, conditions_of, existing, plane

OBJECT = "kubernetes.m.crossplane.io/v1alpha1"


def remote(manifest: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a provider-kubernetes Object for a manifest on the cluster `east`."""
    return {
        "apiVersion": OBJECT,
        "kind": "Object",
        "metadata": {"name": "o", "namespace": TEAM},
        "spec": {
            "forProvider": {"manifest": manifest},
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "east"},
            **spec,
        },
    }


def manifest(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "n", "namespace": "ns"}, "spec": spec}


def held(obj: dict[str, Any]) -> dict[str, Any]:
    """Return what the cluster is said to hold for an Object."""
    control = plane(obj, world=healthy)
    assert control.settle()
    made = existing(control, "Object", TEAM, "o")
    assert (conditions_of(made)["Ready"][0], conditions_of(made)["Synced"][0]) == ("True", "True")
    found: dict[str, Any] = made["status"]["atProvider"]["manifest"]
    return found


#: A manifest, and the status that a healthy cluster's own controllers give it.
ANSWERS = {
    "Deployment": (
        manifest("apps/v1", "Deployment", replicas=3),
        {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3},
    ),
    "Deployment without replicas": (manifest("apps/v1", "Deployment"), {"availableReplicas": 1}),
    "LeaderWorkerSet": (
        manifest("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", replicas=2),
        {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2},
    ),
    "StatefulSet": (manifest("apps/v1", "StatefulSet", replicas=2), {"readyReplicas": 2, "currentReplicas": 2}),
    "DaemonSet": (manifest("apps/v1", "DaemonSet"), {"numberReady": 1, "desiredNumberScheduled": 1}),
    "Job": (manifest("batch/v1", "Job"), {"succeeded": 1}),
    "PersistentVolumeClaim": (
        manifest("v1", "PersistentVolumeClaim", resources={"requests": {"storage": "1Gi"}}),
        {"phase": "Bound", "capacity": {"storage": "1Gi"}},
    ),
    "Namespace": (manifest("v1", "Namespace"), {"phase": "Active"}),
    "Pod": (manifest("v1", "Pod"), {"phase": "Running"}),
    "Gateway": (
        manifest("gateway.networking.k8s.io/v1", "Gateway"),
        {"addresses": [{"type": "Hostname", "value": "east.gateways.example"}]},
    ),
    "Service": (manifest("v1", "Service"), {"loadBalancer": {}}),
}


@pytest.mark.parametrize(("wanted", "status"), ANSWERS.values(), ids=ANSWERS)
def test_a_cluster_answers_for_each_kind(wanted: dict[str, Any], status: dict[str, Any]) -> None:
    found = held(remote(wanted))
    assert found["spec"] == wanted["spec"]
    assert {field: found["status"][field] for field in status} == status


@pytest.mark.parametrize("kind", ["HTTPRoute", "TLSRoute"])
def test_routes_are_accepted_by_every_parent_and_other_kinds_have_no_status(kind: str) -> None:
    wanted = manifest("gateway.networking.k8s.io/v1", kind, parentRefs=[{"name": "g"}])
    found = held(remote(wanted)).get("status", {}).get("parents", [])
    assert [parent["parentRef"] for parent in found] == ([{"name": "g"}] if kind == "HTTPRoute" else [])


def test_what_is_only_observed_is_found() -> None:
    found = held(remote(manifest("v1", "Namespace"), managementPolicies=["Observe"]))
    assert (found["metadata"]["name"], found["status"]["phase"]) == ("n", "Active")


def test_a_changed_manifest_takes_the_place_of_the_old_one() -> None:
    control = plane(remote(manifest("apps/v1", "Deployment", replicas=1, paused=True)), world=healthy)
    control.settle()
    control.apply(remote(manifest("apps/v1", "Deployment", replicas=2)))
    control.settle()
    found = existing(control, "Object", TEAM, "o")["status"]["atProvider"]["manifest"]
    assert found["spec"] == {"replicas": 2}
    assert (found["metadata"]["generation"], found["status"]["observedGeneration"]) == (2, 2)
    assert found["status"]["readyReplicas"] == 2


def test_a_secret_is_held_without_its_values() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "hush"}}
    assert "hush" not in str(held(remote(secret)))


def test_a_config_map_is_held_with_its_values() -> None:
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": {"k": "v"}}
    assert held(remote(data))["data"] == {"k": "v"}


#: Objects of the control cluster that another controller answers for, and the answer.
OTHERS = {
    "a connection": ("kubernetes.m.crossplane.io/v1alpha1", "ClusterProviderConfig", None),
    "a chart's connection": ("helm.m.crossplane.io/v1beta1", "ClusterProviderConfig", None),
    "a chart": ("helm.m.crossplane.io/v1beta1", "Release", TEAM),
    "a collection": (OBJECT, "ObservedObjectCollection", TEAM),
}


@pytest.mark.parametrize(("api_version", "kind", "namespace"), OTHERS.values(), ids=OTHERS)
def test_connections_and_charts_are_ready(api_version: str, kind: str, namespace: str | None) -> None:
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    control = plane({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {}}, world=healthy)
    assert control.settle()
    assert conditions_of(control.get(kind, namespace, "x"))["Ready"][0] == "True"


def test_a_status_that_an_object_came_with_stays_until_the_object_changes() -> None:
    broken = {"conditions": [{"type": "Ready", "status": "False", "reason": "Broken"}]}
    control = plane({**remote(manifest("v1", "Namespace")), "status": broken}, world=healthy)
    control.settle()
    assert existing(control, "Object", TEAM, "o")["status"] == broken
    control.apply(remote(manifest("v1", "Namespace", finalizers=["kubernetes"])))
    control.settle()
    assert conditions_of(control.get("Object", TEAM, "o"))["Ready"][0] == "True"


def test_a_status_that_was_patched_stays_until_the_object_changes() -> None:
    control = plane(remote(manifest("v1", "Namespace")), world=healthy)
    control.settle()
    broken = {"conditions": [{"type": "Synced", "status": "False", "reason": "ReconcileError"}]}
    control.patch_status("Object", TEAM, "o", broken)
    control.settle()
    assert conditions_of(control.get("Object", TEAM, "o")) == {"Synced": ("False", "ReconcileError", "")}


def test_without_a_world_nothing_answers() -> None:
    control = plane(remote(manifest("v1", "Namespace")), world=None)
    control.settle()
    assert "status" not in existing(control, "Object", TEAM, "o")
