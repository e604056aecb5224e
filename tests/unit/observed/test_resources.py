"""What members ask of their nodes, read from a ModelDeployment and carried by a ModelReplica."""

from typing import Any

import pytest

from modelplane.model.resources import NOTHING, Resources
from modelplane.observed.bounds import over_bound
from modelplane.observed.deployment import read_deployment
from modelplane.observed.replica import read_engines
from modelplane.observed.resources import lift, lower, read_asked, read_node, read_shared_memory
from modelplane.step import Object

GI = 2**30


@pytest.mark.parametrize(
    ("block", "asked"),
    [
        ({}, NOTHING),
        ({"requests": {"cpu": 8, "memory": "64Gi"}}, Resources(8000, 64 * GI)),
        ({"requests": {"cpu": "500m"}, "limits": {"cpu": 2, "memory": "1G"}}, Resources(500, 10**9)),
        ({"limits": {"cpu": "1.5"}}, Resources(1500)),
        ({"requests": {"cpu": "0.0001", "memory": "1.0001Ki"}}, Resources(1, 1025)),
        ({"requests": {"cpu": "many", "memory": True}}, NOTHING),
    ],
)
def test_a_pod_asks_for_its_requests_or_its_limits_and_a_part_of_a_unit_is_a_whole_one(
    block: dict[str, Any], asked: Resources
) -> None:
    assert read_asked(block) == asked


def test_of_a_node_a_part_of_a_unit_is_none() -> None:
    assert read_node({"cpu": "3.9999", "memory": "1.0001Ki"}) == Resources(3999, 1024)
    assert read_node(None) == NOTHING


def engine(resources: dict[str, Any]) -> dict[str, Any]:
    device = {"name": "gpu", "selectors": [{"cel": "true"}]}
    container = {"name": "engine", "image": "vllm", "resources": resources}
    member = {"nodeSelector": {"devices": [device]}, "template": {"spec": {"containers": [container]}}}
    return {"name": "main", "members": [member]}


def deployment(resources: dict[str, Any]) -> Object:
    body = {"kind": "ModelDeployment", "metadata": {"name": "m"}, "spec": {"engines": [engine(resources)]}}
    return Object(body, repr(body))


def test_a_replica_carries_what_its_deployment_asks_for_beside_the_template() -> None:
    asked = {"requests": {"memory": "64Gi"}, "limits": {"memory": "96Gi"}}
    (member,) = engine(asked)["members"]
    carried = lift(member)
    assert carried["resources"] == asked
    assert carried["template"]["spec"]["containers"] == [{"name": "engine", "image": "vllm"}]
    assert lift(carried) is carried
    (read,) = read_engines([{"name": "main", "members": [{**carried, "nodePoolName": "x"}]}])
    assert read.members[0].asked == Resources(memory=64 * GI)
    found = read_deployment(deployment(asked))
    assert found.profiles[0].engines[0].members[0].asked == read.members[0].asked  # type: ignore[union-attr]


def test_a_request_above_its_limit_is_named_before_kubernetes_refuses_its_pods() -> None:
    wrong = over_bound(deployment({"requests": {"memory": "1Gi"}, "limits": {"memory": "1G"}}))
    assert wrong
    assert (wrong.field, wrong.why) == (
        "spec.engines[main].members[0]",
        "requests 1Gi of memory, more than its limit of 1G",
    )
    assert over_bound(deployment({"requests": {"memory": "1Gi"}, "limits": {"memory": "1024Mi"}})) is None


@pytest.mark.parametrize(
    ("pod", "bound"),
    [
        ({"sharedMemory": "1Gi"}, GI),
        ({"containers": [{"resources": {"limits": {"memory": "1Gi"}}}]}, 0),
        ({"sharedMemory": 5, "containers": [{"resources": {"limits": {"memory": "1Gi"}}}]}, 5),
        ({"containers": [{"resources": {"limits": {"cpu": 1}}}]}, None),
    ],
)
def test_shared_memory_has_its_own_bound_or_that_of_the_memory_or_the_pools(pod: Any, bound: int | None) -> None:
    assert read_shared_memory(pod) == bound


def test_a_bound_of_shared_memory_is_carried_beside_the_template() -> None:
    (member,) = engine({})["members"]
    member["template"]["spec"]["sharedMemory"] = "16Gi"
    carried = lift(member)
    assert carried["sharedMemory"] == "16Gi"
    assert "sharedMemory" not in carried["template"]["spec"]
    (read,) = read_engines([{"name": "main", "members": [{**carried, "nodePoolName": "x"}]}])
    assert read.members[0].shared_memory == 16 * GI


@pytest.mark.parametrize("lifted", [{}, {"resources": {"limits": {"cpu": 1}}}, {"sharedMemory": "2Gi"}], ids=str)
def test_a_member_that_is_lowered_is_lifted_to_what_it_was(lifted: dict[str, Any]) -> None:
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
    member = {"role": "Leader", "template": template, **lifted}
    assert lift(lower(member)) == member
    assert lower(member).keys() == {"role", "template"}
