"""A deleted InferenceCluster stays until its replicas have moved, also where the provider has not marked it as used."""

from typing import Any

import pytest

from modelplane.compose_replica.cluster_hold import HOLD
from modelplane.compose_replica.ending import remaining
from modelplane.step import Request
from unit.compose_replica import replicas as given

UID = "0d5e1b1c"
HOLD_UID = "77aa12f0"
MANAGED = "finalizer.managedresource.crossplane.io"
REFERRED = "kubernetes.crossplane.io/referred-by-object-"
OTHERS = ["composite.apiextensions.crossplane.io", f"{REFERRED}of-another-replica"]


def observed(*finalizers: str, synced: str = "True") -> dict[str, Any]:
    """Return what is observed of a replica; its route has finalizers, and is in sync or not."""
    found = given.serving(given.replica())
    found["httproute"]["metadata"] |= {"uid": UID, "finalizers": [*finalizers]}
    found["httproute"]["status"]["conditions"] = [given.synced(synced)]
    return found


def composed(found: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    desired = given.run(given.replica(), found, cluster=[given.cluster(**cluster)]).desired
    return {name: each.build() for name, each in desired.items()}


def test_what_the_provider_has_not_marked_is_kept_by_one_more_object() -> None:
    held = composed(observed(MANAGED), finalizers=OTHERS)[HOLD]["spec"]
    assert held["managementPolicies"] == ["Observe"], "it changes nothing on the cluster"
    assert held["references"] == [
        {"dependsOn": {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceCluster", "name": "eu-1"}}
    ]


@pytest.mark.parametrize(
    ("found", "cluster"),
    [
        pytest.param(observed(MANAGED), {"finalizers": [*OTHERS, f"{REFERRED}{UID}"]}, id="marked"),
        pytest.param(observed(), {"finalizers": OTHERS}, id="not yet seen by the provider"),
        pytest.param(observed(MANAGED, synced="False"), {"finalizers": OTHERS}, id="tried again"),
        pytest.param(
            observed(MANAGED),
            {"finalizers": OTHERS, "deletionTimestamp": "2026-01-01T00:00:00Z"},
            id="too late: a deleted object takes no finalizer",
        ),
    ],
)
def test_there_is_no_second_object_where_it_would_do_nothing(found: dict[str, Any], cluster: dict[str, Any]) -> None:
    assert HOLD not in composed(found, **cluster)


def holding(*finalizers: str) -> dict[str, Any]:
    """Return what is observed of a replica whose one more Object the provider has reconciled."""
    found = observed(MANAGED)
    found[HOLD] = composed(found, finalizers=OTHERS)[HOLD]
    found[HOLD]["metadata"] = {**found[HOLD]["metadata"], "uid": HOLD_UID, "finalizers": [*finalizers]}
    found[HOLD]["status"] = {"conditions": [given.synced("True")]}
    return found


@pytest.mark.parametrize("marked", [[f"{REFERRED}{HOLD_UID}"], [f"{REFERRED}{UID}", f"{REFERRED}{HOLD_UID}"]])
def test_one_that_keeps_the_cluster_stays(marked: list[str]) -> None:
    assert HOLD in composed(holding(MANAGED), finalizers=[*OTHERS, *marked])


def test_one_that_the_provider_has_not_tried_yet_stays() -> None:
    assert HOLD in composed(holding(), finalizers=OTHERS)


def test_one_that_failed_as_the_first_did_goes_and_comes_again() -> None:
    found = holding(MANAGED)
    assert HOLD not in composed(found, finalizers=OTHERS)
    del found[HOLD]
    assert HOLD in composed(found, finalizers=OTHERS)


def test_none_goes_where_the_cluster_takes_no_more_finalizers_or_is_not_known() -> None:
    found = holding(MANAGED)
    assert HOLD in composed(found, finalizers=OTHERS, deletionTimestamp="2026-01-01T00:00:00Z")
    assert HOLD in given.run(given.replica(), found, cluster=[]).desired


def test_it_goes_with_the_replica_after_its_pods() -> None:
    found = holding(MANAGED)
    request = Request(given.obj(given.replica()), {name: given.obj(each) for name, each in found.items()})
    assert HOLD in remaining(request)
