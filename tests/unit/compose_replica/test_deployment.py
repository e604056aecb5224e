"""ModelReplicas of a deployment: what the scheduler decided, carried out to the letter."""

from typing import Any

import pytest

from modelplane.compose_replica.deployment import compose
from modelplane.composing.placement_message import PlacementMessage, write_placements
from modelplane.model.deployment import Role
from modelplane.model.placement import Stamp
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.step import Object, Request

GPU = {"name": "gpu", "count": 8, "selectors": [{"cel": "true"}]}
NIC = {"name": "nic", "selectors": [{"cel": "true"}]}
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "vllm:1", "env": [{"name": "A", "value": "b"}]}]}}
ENGINE = {
    "name": "main",
    "copies": 2,
    "members": [
        {"role": "Leader", "nodeSelector": {"devices": [GPU, NIC]}, "template": TEMPLATE},
        {"role": "Worker", "worker": {"nodes": 3}, "template": TEMPLATE},
    ],
}
DEPLOYMENT = Object(
    {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": "qwen", "namespace": "ml", "uid": "u"},
        "spec": {
            "replicas": 1,
            "replicaLabels": {"team": "search"},
            "clusterSelector": {"matchLabels": {"region": "eu"}},
            "modelCacheRef": {"name": "weights"},
            "serving": {"mode": "Unified"},
            "engines": [ENGINE],
        },
    },
    "v1",
)
LABELS = {
    "team": "search",
    "modelplane.ai/deployment": "qwen",
    "modelplane.ai/cluster": "a",
    "modelplane.ai/replica-index": "0",
}


def placed(stamp: Stamp, spec: dict[str, Any] | None = None) -> PlacementMessage:
    return PlacementMessage(
        name="qwen-1234abcd",
        resource="replica-a-0",
        endpoint="endpoint-a-0",
        cluster="a",
        index=0,
        stamp=stamp,
        engines=(
            StampedEngine(
                "main",
                (
                    StampedMember(Role.LEADER, "p", claims=(Claim("gpu", "gpu.nvidia.com", 8),)),
                    StampedMember(Role.WORKER, "p", pods=3),
                ),
            ),
        ),
        spec=spec,
    )


def composed(stamp: Stamp, observed: Object | None = None, spec: dict[str, Any] | None = None) -> dict[str, Any]:
    seen = {"replica-a-0": observed} if observed else {}
    result = compose(Request(DEPLOYMENT, observed=seen, context=write_placements([placed(stamp, spec)])))
    assert result.fatal is None
    return dict(result.desired["replica-a-0"].build())


OLD = {"clusterName": "a", "serving": {"mode": "Unified"}, "engines": [{"name": "old"}]}


def observed(**status: Any) -> Object:
    spec = {**OLD, "crossplane": {"resourceRefs": []}}
    return Object({"kind": "ModelReplica", "metadata": {"name": "r"}, "spec": spec, "status": status}, repr(status))


@pytest.mark.proves("P103")
def test_an_applied_replica_is_the_deployment_resolved_on_its_pools() -> None:
    assert composed(Stamp.APPLY, observed()) == {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelReplica",
        "metadata": {"name": "qwen-1234abcd", "namespace": "ml", "labels": LABELS},
        "spec": {
            "clusterName": "a",
            "modelCacheRef": {"name": "weights"},
            "serving": {"mode": "Unified"},
            "engines": [
                {
                    "name": "main",
                    "copies": 2,
                    "members": [
                        {
                            "role": "Leader",
                            "nodePoolName": "p",
                            "template": TEMPLATE,
                            "deviceRequests": [
                                {
                                    "name": "gpu",
                                    "deviceClassName": "gpu.nvidia.com",
                                    "count": 8,
                                    "selectors": [{"cel": "true"}],
                                }
                            ],
                        },
                        {"role": "Worker", "nodePoolName": "p", "worker": {"nodes": 3}, "template": TEMPLATE},
                    ],
                }
            ],
        },
    }


def test_a_held_replica_keeps_its_own_spec_and_leaves_crossplanes_fields_alone() -> None:
    assert composed(Stamp.HOLD, observed())["spec"] == OLD


def test_a_held_replica_that_is_not_among_the_observed_keeps_the_spec_it_was_found_with() -> None:
    assert composed(Stamp.HOLD, None, {**OLD, "crossplane": {}})["spec"] == OLD


def test_a_reverted_replica_runs_the_engines_it_last_served_with() -> None:
    served = [{"name": "served"}]
    assert composed(Stamp.REVERT, observed(servedEngines=served))["spec"] == {**OLD, "engines": served}


def test_without_a_schedule_nothing_is_decided() -> None:
    assert compose(Request(DEPLOYMENT)).fatal is not None


def test_a_deployments_wish_for_an_endpoint_picker_reaches_its_replicas_and_no_other_annotation_does() -> None:
    wish = {"modelplane.ai/endpoint-picker": "true"}
    metadata = {**DEPLOYMENT.metadata, "annotations": {**wish, "note": "ours"}}
    request = Request(
        Object({**DEPLOYMENT.body, "metadata": metadata}, "v2"), context=write_placements([placed(Stamp.APPLY)])
    )
    assert compose(request).desired["replica-a-0"].build()["metadata"]["annotations"] == wish
