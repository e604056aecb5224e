"""How a ModelReplica is read: ours, another deployment's, or one written by hand."""

from typing import Any

import pytest

from modelplane.model.deployment import Role
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from modelplane.observed.replica import read_replica, unreadable
from modelplane.step import Object

CEL = 'device.driver == "gpu.nvidia.com"'
ENGINES = [
    {
        "name": "main",
        "copies": 2,
        "members": [
            {
                "role": "Leader",
                "nodePoolName": "p",
                "deviceRequests": [
                    {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 8, "selectors": [{"cel": CEL}]}
                ],
            },
            {"role": "Worker", "nodePoolName": "p", "worker": {"nodes": 3}},
        ],
    }
]
STAMPED = (
    StampedEngine(
        "main",
        (
            StampedMember(Role.LEADER, "p", 1, (Claim("gpu", "gpu.nvidia.com", 8, (CEL,)),)),
            StampedMember(Role.WORKER, "p", 3),
        ),
        2,
    ),
)


def replica(spec: object, **parts: Any) -> Object:
    metadata = {"name": "r", "namespace": "ml", "uid": "u", **parts.pop("metadata", {})}
    body = {"kind": "ModelReplica", "metadata": metadata, "spec": spec, **parts}
    return Object(body, repr(body))


def test_a_composed_replica_reads_whole() -> None:
    read = read_replica(
        replica(
            {"clusterName": "a", "engines": ENGINES},
            metadata={
                "labels": {"modelplane.ai/replica-index": "3"},
                "annotations": {"crossplane.io/composition-resource-name": "replica-a-3"},
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"uid": "other"}, {"uid": "owner", "controller": True}],
            },
            status={"served": True, "servedEngines": ENGINES, "conditions": [{"type": "Ready", "status": "True"}]},
        )
    )
    assert read == Replica(
        namespace="ml",
        name="r",
        uid="u",
        cluster="a",
        engines=STAMPED,
        owner="owner",
        resource="replica-a-3",
        index=3,
        created="2026-01-01T00:00:00Z",
        ready=True,
        has_served=True,
        served_engines=STAMPED,
    )


def test_a_hand_written_replica_has_no_owner_no_index_and_its_defaults() -> None:
    engines = [{"name": "e", "members": [{"nodePoolName": "p", "deviceRequests": [{"name": "g"}]}]}]
    read = read_replica(replica({"clusterName": "a", "engines": engines}))
    member = StampedMember(Role.STANDALONE, "p", 1, (Claim("g", "", 1),))
    assert (read.owner, read.index, read.engines) == ("", None, (StampedEngine("e", (member,)),))


def test_a_worker_without_a_worker_block_is_one_pod() -> None:
    engines = [{"name": "e", "members": [{"role": "Worker", "nodePoolName": "p"}]}]
    assert read_replica(replica({"clusterName": "a", "engines": engines})).engines[0].members[0].pods == 1


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (None, "spec.clusterName"),
        ({"engines": ENGINES}, "spec.clusterName"),
        ({"clusterName": "a"}, "spec.engines"),
        ({"clusterName": "a", "engines": "x"}, "spec.engines"),
        (
            {"clusterName": "a", "engines": [{"name": "e", "members": [{"role": "Pilot", "nodePoolName": "p"}]}]},
            "spec.engines",
        ),
        ({"clusterName": "a", "engines": ENGINES}, None),
    ],
    ids=repr,
)
def test_a_replica_that_cannot_be_judged_names_the_field(spec: object, field: str | None) -> None:
    owned = {"ownerReferences": [{"uid": "owner", "controller": True}]}
    assert unreadable(read_replica(replica(spec, metadata=owned))) == field


BY_HAND: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "without a label": ({}, {}, ""),
    "with another cluster's label": ({"labels": {"modelplane.ai/cluster": "b"}}, {}, ""),
    "with its label": ({"labels": {"modelplane.ai/cluster": "a"}}, {}, "a"),
    "that has served": ({}, {"served": True}, "a"),
    "that has begun": ({}, {"workloads": [{"engine": "main"}]}, "a"),
}


@pytest.mark.parametrize(("metadata", "status", "cluster"), BY_HAND.values(), ids=BY_HAND)
def test_a_replica_by_hand_that_composes_nothing_for_lack_of_a_label_holds_nothing(
    metadata: dict[str, Any], status: dict[str, Any], cluster: str
) -> None:
    found = replica({"clusterName": "a", "engines": ENGINES}, metadata=metadata, status=status)
    assert read_replica(found).cluster == cluster


def test_a_composed_replica_is_on_the_cluster_of_its_resource_name_whatever_its_spec_says() -> None:
    metadata = {
        "annotations": {"crossplane.io/composition-resource-name": "replica-eu-west-1-3"},
        "ownerReferences": [{"uid": "owner", "controller": True}],
    }
    assert read_replica(replica({"clusterName": "a", "engines": ENGINES}, metadata=metadata)).cluster == "eu-west-1"


@pytest.mark.parametrize("label", ["", "x", "-1", "٣", "1.0"])
def test_an_index_that_is_no_number_reads_as_none(label: str) -> None:
    metadata = {"labels": {"modelplane.ai/replica-index": label}}
    assert read_replica(replica({"clusterName": "a"}, metadata=metadata)).index is None


@pytest.mark.parametrize(
    ("observed", "stale"), [({"observedGeneration": 2}, True), ({"observedGeneration": 3}, False), ({}, False)]
)
def test_a_ready_of_an_earlier_generation_is_stale(observed: dict[str, int], stale: bool) -> None:
    ready = {"type": "Ready", "status": "True", **observed}
    body = {"kind": "ModelReplica", "metadata": {"name": "r", "generation": 3}, "status": {"conditions": [ready]}}
    assert read_replica(Object(body, object())).stale is stale
