"""What is read of a cluster's objects for each node of a pool."""

from typing import Any

import pytest

from modelplane.inventory import read_nodes
from modelplane.model.inventory import NodeState, PublishedDevices
from modelplane.model.resources import Resources
from unit.inventory.clusters import claim, devices, gpu, node, pod

PLAIN = node("a")
TWO = (gpu("gpu-0"), gpu("gpu-1"))
H100 = (("gpu.nvidia.com/productName", "string", "H100"),)
MEMORY = (("gpu.nvidia.com/memory", "80Gi"),)


def state(*slices: dict[str, Any], node: dict[str, Any] = PLAIN, **objects: Any) -> NodeState:
    (found,) = read_nodes([node], slices, objects.get("claims", ()), objects.get("pods", ())).values()
    return found


def test_a_node_has_what_its_kubelet_gives_pods_and_its_slices_publish_by_kind() -> None:
    assert state(devices("a", *TWO)) == NodeState(
        ready=True,
        allocatable=Resources(7910, 64 * 2**30),
        pods=110,
        devices=(PublishedDevices("gpu.nvidia.com", 2, H100, MEMORY),),
    )


def test_nodes_of_no_pool_and_of_the_system_pool_are_left_out() -> None:
    listed = [node("a", None), node("b", "system"), node("c", "l4")]
    assert [*read_nodes(listed, (), (), ())] == [("l4", "c")]


@pytest.mark.parametrize(
    "found",
    [node("a", ready=False), node("a", unschedulable=True), {**node("a"), "status": {}}],
    ids=["not Ready", "cordoned", "without a condition"],
)
def test_a_node_that_takes_no_new_pods_is_not_ready(found: dict[str, Any]) -> None:
    assert not state(node=found).ready


def test_only_taints_that_engines_do_not_tolerate_by_themselves_are_named() -> None:
    keys = ["nvidia.com/gpu", "node.kubernetes.io/unschedulable", "team"]
    taints = [{"key": key, "value": "x", "effect": "NoSchedule"} for key in keys]
    soft = {"key": "soft", "effect": "PreferNoSchedule"}
    assert state(node=node("a", taints=[*taints, soft])).taints == ("team=x:NoSchedule",)


def test_devices_with_a_taint_are_unhealthy() -> None:
    sick = gpu("gpu-1", taints=[{"key": "xid", "effect": "NoExecute"}])
    (found,) = state(devices("a", gpu("gpu-0"), sick)).devices
    assert (found.count, found.unhealthy, found.usable) == (2, 1, 1)


#: Slices of a node, and how many devices the scheduler would allocate from.
SLICES = {
    "an old generation beside the new one": (
        [devices("a", *TWO, generation=1), devices("a", gpu("gpu-0"), generation=2)],
        1,
    ),
    "half of a pool": ([devices("a", *TWO, slices=2)], 0),
    "devices of no node": ([devices("a", *TWO, nodeName=None, allNodes=True)], 0),
    "another node's": ([devices("b", *TWO)], 0),
}


@pytest.mark.parametrize(("slices", "count"), SLICES.values(), ids=SLICES)
def test_devices_are_counted_as_the_scheduler_counts_them(slices: list[dict[str, Any]], count: int) -> None:
    assert sum(each.count for each in state(*slices).devices) == count


#: Claims on a node's devices, and the one that is of others.
CLAIMS = {
    "of an engine's pod": (claim("c", "a", pod="1"), ""),
    "of another's pod": (claim("c", "a", pod="2"), "lab/c"),
    "of nobody's pod": (claim("c", "a"), "lab/c"),
    "of an engine's pod, shared with another's": (
        {
            **claim("c", "a", pod="1"),
            "status": {**claim("c", "a")["status"], "reservedFor": [{"uid": "1"}, {"uid": "2"}]},
        },
        "lab/c",
    ),
    "that only watches": (claim("c", "a", pod="2", adminAccess=True), ""),
    "on another node": (claim("c", "b"), ""),
    "without devices yet": ({**claim("c", "a"), "status": {}}, ""),
}


@pytest.mark.parametrize(("found", "named"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_of_anybody_but_modelplane_is_named(found: dict[str, Any], named: str) -> None:
    given = state(devices("a", *TWO), devices("b", *TWO), claims=[found], pods=[pod("1")])
    assert given.used_by == named
