"""Whatever an inventory says, no replica that serves is ended, stops serving, or has its workload changed.

What serves is read from the control plane as users see it: ModelReady of each ModelReplica by its uid, and the
manifests of the Objects in its namespace, which it composes on clusters.
"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from given.manifests import cluster, deployment, hardware
from modelplane.model.names import provider_config
from modelplane.observed.fields import RESOURCE_NAME
from modelplane.preview import ControlPlane, healthy
from property.claimed_inventories import documents, whole
from unit.preview.fakes import conditions_of

OBJECT = "Object.kubernetes.m.crossplane.io"
CLUSTERS = ("east", "west")
ABSENT = "cannot observe: external resource does not exist"


@pytest.fixture(scope="module")
def control_planes() -> Any:
    """Return a settled fleet with inventories, of which each example gets a copy of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELPLANE_IMAGE", "registry.example.org/modelplane:v1")
        fleet = (cluster(name, nodes=2, stack={"inventory": "Managed"}) for name in CLUSTERS)
        control = ControlPlane((hardware(), *fleet, deployment(replicas=3)), world=healthy)
        assert control.settle()
        yield control


def uid_of(control: ControlPlane, name: str) -> str:
    found = control.get("InferenceCluster", None, name)
    assert found is not None
    return str(found["status"].get("clusterUID", ""))


def publish(control: ControlPlane, name: str, document: str | None) -> None:
    """Let the Object that observes a cluster's inventory have seen a document."""
    (observes,) = [
        each
        for each in control.list(OBJECT)
        if each["spec"]["providerConfigRef"]["name"] == provider_config(name)
        and each["metadata"].get("annotations", {}).get(RESOURCE_NAME) == "inventory"
    ]
    synced = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "message": ""}
    if document is None:
        synced |= {"status": "False", "reason": "ReconcileError", "message": ABSENT}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"inventory": document or ""}}
    status = {"atProvider": {"manifest": manifest}, "conditions": [{"type": "Ready", "status": "True"}, synced]}
    control.patch_status(OBJECT, observes["metadata"]["namespace"], observes["metadata"]["name"], status)


def serving(control: ControlPlane) -> set[str]:
    """Return the replicas that serve, by uid."""
    return {
        each["metadata"]["uid"]
        for each in control.list("ModelReplica")
        if conditions_of(each)["ModelReady"][0] == "True" and not each["metadata"].get("deletionTimestamp")
    }


def workloads(control: ControlPlane) -> dict[str, str]:
    """Return what replicas have on clusters, by Object: its uid and its manifest."""
    return {
        each["metadata"]["name"]: each["metadata"]["uid"] + json.dumps(each["spec"]["forProvider"], sort_keys=True)
        for each in control.list(OBJECT)
        if each["metadata"]["namespace"] == "team"
    }


def bounds(control: ControlPlane) -> list[int | None]:
    """Return the nodes of each cluster's pool that count, None where those that are declared do."""
    found = {each["metadata"]["name"]: each["status"]["gpuPools"] for each in control.list("InferenceCluster")}
    return [found[name][0].get("bound", {}).get("nodes") for name in CLUSTERS]


@settings(max_examples=15, deadline=None)
@given(data=st.data(), history=st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=5))
def test_no_inventory_touches_what_serves(
    control_planes: ControlPlane, data: st.DataObject, history: list[str]
) -> None:
    control = control_planes.fork(healthy)
    before, made = serving(control), workloads(control)
    assert len(before) == 3
    for name in history:
        publish(control, name, data.draw(documents(uid_of(control, name))))
        control.settle(12)
        assert serving(control) >= before
        assert workloads(control).items() >= made.items()


def test_inventories_that_find_nothing_keep_new_replicas_away_and_what_serves(control_planes: ControlPlane) -> None:
    control = control_planes.fork(healthy)
    before, made = serving(control), workloads(control)
    for name in CLUSTERS:
        publish(control, name, whole(uid_of(control, name)))
    control.settle(12)
    assert bounds(control) == [0, 0]
    control.apply(deployment(replicas=4))
    control.settle(12)
    assert serving(control) == before
    assert workloads(control) == made
