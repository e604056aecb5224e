"""A deleted InferenceCluster stays until its replicas have moved, also where the provider has not marked it as used."""

from typing import Any

import pytest

from modelplane.compose_replica.cluster_hold import HOLDS
from modelplane.compose_replica.ending import remaining
from modelplane.step import Request
from unit.compose_replica import replicas as given

UID = "0d5e1b1c"
HOLD = HOLDS[0]
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


def holding(count: int, *finalizers: str) -> dict[str, Any]:
    """Return what is observed of a replica with `count` more Objects; the provider has reconciled them, or not."""
    found = observed(MANAGED)
    body = composed(found, finalizers=OTHERS)[HOLD]
    for name in HOLDS[:count]:
        metadata = {**body["metadata"], "uid": f"of-{name}", "finalizers": [*finalizers]}
        found[name] = {**body, "metadata": metadata, "status": {"conditions": [given.synced("True")]}}
    return found


def holds(found: dict[str, Any], *marked: str, **cluster: Any) -> list[str]:
    """Return the Objects that are composed to keep the cluster, which has the finalizers of the Objects `marked`."""
    finalizers = [*OTHERS, *(f"{REFERRED}{uid}" for uid in marked)]
    return [name for name in composed(found, **{"finalizers": finalizers, **cluster}) if name.startswith(HOLD)]


@pytest.mark.parametrize("marked", [[f"of-{HOLD}"], [UID], [UID, f"of-{HOLD}"]])
def test_one_more_stays_and_is_enough_where_one_of_them_keeps_the_cluster(marked: list[str]) -> None:
    assert holds(holding(1, MANAGED), *marked) == [HOLD]


def test_the_next_comes_when_the_provider_has_failed_for_all_before() -> None:
    assert holds(holding(1)) == [HOLD], "the provider has not tried yet"
    assert holds(holding(1, MANAGED)) == [*HOLDS[:2]]
    assert holds(holding(2, MANAGED)) == [*HOLDS]


def test_a_provider_that_may_not_write_clusters_leads_to_no_end_of_them() -> None:
    assert holds(holding(3, MANAGED)) == [*HOLDS]


def test_they_stay_where_the_cluster_takes_no_more_finalizers_or_is_not_known() -> None:
    found = holding(1, MANAGED)
    assert holds(found, deletionTimestamp="2026-01-01T00:00:00Z") == [HOLD]
    assert HOLD in given.run(given.replica(), found, cluster=[]).desired


def test_it_goes_with_the_replica_after_its_pods() -> None:
    found = holding(1, MANAGED)
    request = Request(given.obj(given.replica()), {name: given.obj(each) for name, each in found.items()})
    assert HOLD in remaining(request)
