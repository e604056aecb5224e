"""What an InferenceCluster makes of its inventory: bounds of its pools, and words where what is declared holds."""

import json
from typing import Any

import pytest

from modelplane.observed.cluster import read_cluster
from modelplane.step import Object
from unit.compose_cluster import clusters as given
from unit.compose_cluster.test_stack import cluster as with_stack
from unit.compose_cluster.test_stack import composed

UID = "1234"
GPUS: dict[str, Any] = {
    "driver": "gpu.nvidia.com",
    "count": 8,
    "attributes": {
        "gpu.nvidia.com/architecture": {"string": "Ada"},
        "gpu.nvidia.com/driverVersion": {"version": "580.65.6"},
    },
    "capacity": {"gpu.nvidia.com/memory": {"value": "23034Mi"}},
}


def group(nodes: int = 1, **fields: Any) -> dict[str, Any]:
    return {"nodes": nodes, "ready": True, "devices": [GPUS], **fields}


def document(*groups: dict[str, Any], **fields: Any) -> str:
    """Return what the inventory publishes of pool l4."""
    pools = {"l4": list(groups)} if groups else {}
    return json.dumps({"version": 1, "clusterUID": UID, "at": 900, "settled": True, "pools": pools, **fields})


def ran(
    text: str | None, *pools: dict[str, Any], state: str = "Running", last: Any = None, of_class: Any = None
) -> Any:
    """Return the result of a pass on a cluster with this document, None where the ConfigMap is absent."""
    body = with_stack(inventory="Managed")
    body["spec"]["nodePools"] = list(pools) or [given.pool()]
    body["status"] = {"clusterUID": UID} | ({"gpuPools": last} if last else {})
    stack = composed(parts=[{"name": "inventory", "state": state}], serves=True)
    probe = given.looking("Namespace", {"metadata": {"uid": UID}})
    absent = "cannot observe: external resource does not exist"
    seen = (
        given.looking("ConfigMap", None, absent)
        if text is None
        else given.looking("ConfigMap", {"data": {"inventory": text}})
    )
    observed = given.reached(**{"serving-stack": stack, "inventory": seen, "kube-system": probe})
    return given.run(body, observed, class_l4=[of_class or given.device_class()])


def bound(result: Any) -> tuple[int, str, str] | None:
    (entry,) = given.status(result)["gpuPools"]
    found = entry.get("bound")
    return found and (found["nodes"], found["reason"], found["message"])


WHOLE = {"driver": "gpu.nvidia.com", "count": 7, "attributes": GPUS["attributes"], "capacity": GPUS["capacity"]}
#: The nodes of a pool of two, and its bound.
BOUNDS: dict[str, tuple[list[dict[str, Any]], tuple[int, str, str] | None]] = {
    "two": ([group(2)], None),
    "more than declared": ([group(5)], None),
    "one of five can be used by nobody": ([group(4), group(used_by="x", usedBy="lab/c")], None),
    "one": (
        [group()],
        (1, "NodesMissing", "1 of 2 nodes can be used. Of the others 1: no node has the label modelplane.ai/pool=l4"),
    ),
    "none": (
        [],
        (0, "NodesMissing", "0 of 2 nodes can be used. Of the others 2: no node has the label modelplane.ai/pool=l4"),
    ),
    "one not Ready": (
        [group(), group(ready=False)],
        (1, "NodesMissing", "1 of 2 nodes can be used. Of the others 1: not Ready, or cordoned"),
    ),
    "a taint": (
        [group(), group(taints=["team=x:NoSchedule"])],
        (
            1,
            "NodesMissing",
            "1 of 2 nodes can be used. Of the others 1: taint team=x:NoSchedule, which the pool's tolerations lack",
        ),
    ),
    "fewer devices": (
        [group(), group(devices=[WHOLE])],
        (1, "NotPublished", "1 of 2 nodes can be used. Of the others 1: gpu.nvidia.com publishes 7 of 8 devices"),
    ),
    "an unhealthy device": (
        [group(), group(devices=[{**GPUS, "unhealthy": 1}])],
        (
            1,
            "NotPublished",
            "1 of 2 nodes can be used. Of the others 1: gpu.nvidia.com publishes 7 of 8 devices, 1 more are unhealthy",
        ),
    ),
    "no driver": (
        [group(2, devices=[])],
        (0, "NotPublished", "0 of 2 nodes can be used. Of the others 2: gpu.nvidia.com publishes 0 of 8 devices"),
    ),
    "used by others": (
        [group(), group(usedBy="lab/c")],
        (
            1,
            "UsedByOthers",
            "1 of 2 nodes can be used. Of the others 1: devices are allocated to ResourceClaim lab/c",
        ),
    ),
}


@pytest.mark.parametrize(("nodes", "expected"), BOUNDS.values(), ids=BOUNDS)
def test_a_pool_has_no_more_nodes_than_can_be_used(
    nodes: list[dict[str, Any]], expected: tuple[int, str, str] | None
) -> None:
    result = ran(document(*nodes))
    assert bound(result) == expected
    (entry,) = given.status(result)["gpuPools"]
    assert entry["nodes"] == 2
    words = given.condition(result, "ClusterReady").message
    assert (expected[2] in words) if expected else words == ""


def test_the_scheduler_sees_the_bound_and_never_more_than_is_declared() -> None:
    for nodes, expected in ((1, 1), (0, 0), (7, 2), (None, 2), (-1, 0), ("1", 2)):
        pools = [{"name": "l4", "nodes": 2, "devices": [given.L4], "bound": {"nodes": nodes}}]
        body = {**with_stack(), "status": {"gpuPools": pools}}
        (found,) = read_cluster(Object(body, object())).pools or ()
        assert found.nodes == expected, nodes


#: Nodes of a pool that an autoscaler grows from 1 to 4, and its bound.
GROWING: dict[str, tuple[list[dict[str, Any]], int | None]] = {
    "one, of four that there can be": ([group()], None),
    "none": ([], None),
    "one that went": ([group(), group(ready=False)], None),
    "one that others use": ([group(), group(usedBy="lab/c")], 3),
    "two without devices": ([group(2, devices=[])], 2),
}


@pytest.mark.parametrize(("nodes", "expected"), GROWING.values(), ids=GROWING)
def test_a_pool_that_an_autoscaler_grows_counts_to_its_maximum(
    nodes: list[dict[str, Any]], expected: int | None
) -> None:
    found = bound(ran(document(*nodes), given.pool(nodeCount=1, minNodeCount=0, maxNodeCount=4)))
    assert (found and found[0]) == expected


def test_a_taint_that_the_pool_tolerates_and_resources_that_suffice_bound_nothing() -> None:
    pool = given.pool(node={"cpu": 8, "memory": "64Gi"}, tolerations=[{"key": "team", "operator": "Exists"}])
    enough = {"cpu": 8000, "memory": 64 * 2**30, "pods": 110, "taints": ["team=x:NoSchedule"]}
    assert bound(ran(document(group(2, **enough)), pool)) is None
    found = bound(ran(document(group(1, **enough), group(1, **{**enough, "cpu": 7900})), pool))
    assert found == (1, "NotPublished", "1 of 2 nodes can be used. Of the others 1: 7900m CPU of 8000m")


NAMED = "ConfigMap modelplane-inventory/modelplane-inventory, key inventory"
#: Inventories that do not count, and what is said of them.
HOLDS: dict[str, tuple[str | None, str, str]] = {
    "absent": (None, "Running", "the inventory has published nothing yet"),
    "its pod does not run": (
        document(),
        "Installing",
        "the inventory's pod does not run (ServingStack, part inventory)",
    ),
    "young": (document(settled=False), "Running", "the inventory is not five minutes old yet"),
    "no JSON": ("{", "Running", f"{NAMED}: is no JSON"),
    "another cluster's": (
        document(clusterUID="5678"),
        "Running",
        f"{NAMED}: is of the cluster with uid 5678, and this one has 1234",
    ),
    "too large": ("x" * 100_001, "Running", f"{NAMED}: has 100001 bytes, more than 100000"),
}


@pytest.mark.parametrize(("text", "state", "why"), HOLDS.values(), ids=HOLDS)
def test_what_is_declared_holds_without_an_inventory_that_can_be_read(text: str | None, state: str, why: str) -> None:
    last = [{"name": "l4", "nodes": 2, "devices": [given.L4], "bound": {"nodes": 0, "reason": "NodesMissing"}}]
    result = ran(text, state=state, last=last)
    assert bound(result) is None
    ready = given.condition(result, "ClusterReady")
    assert ready.status == "True"
    assert f"the declared nodes of pools count: {why}" in ready.message[0].lower() + ready.message[1:]


def test_the_status_is_the_same_whatever_the_clock_says() -> None:
    first, second = (given.status(ran(document(group(), at=at))) for at in (900, 1140))
    assert first == second


def test_a_value_that_differs_from_the_class_is_named_with_both() -> None:
    other = {**GPUS, "attributes": {**GPUS["attributes"], "gpu.nvidia.com/architecture": {"string": "Hopper"}}}
    result = ran(document(group(2, devices=[other])))
    assert bound(result) is None
    assert (
        "pool l4: InferenceClass l4, spec.devices[gpu] declares architecture of gpu.nvidia.com as Ada, and the nodes "
        "publish Hopper. Correct the class: a pod whose selectors read it would wait for ever. "
        "`modelplane class --from-cluster eu-1 --pool l4` prints what to apply"
    ) in given.condition(result, "ClusterReady").message.replace("Pool", "pool")


def test_equal_quantities_do_not_differ_and_others_do() -> None:
    for value, differs in (("24153948160", True), ("23034Mi", False), ("24152899584", False), ("80Gi", True)):
        found = {**GPUS, "capacity": {"gpu.nvidia.com/memory": {"value": value}}}
        words = given.condition(ran(document(group(2, devices=[found]))), "ClusterReady").message
        assert ("memory" in words) is differs, value


def test_the_one_object_that_observes_it_is_composed_where_the_stack_has_one() -> None:
    body = given.bodies(ran(document()))["inventory"]
    assert body["spec"]["managementPolicies"] == ["Observe"]
    assert body["spec"]["forProvider"]["manifest"]["metadata"] == {
        "name": "modelplane-inventory",
        "namespace": "modelplane-inventory",
    }
    assert "inventory" not in given.run(with_stack(lws="Managed"), given.reached()).desired
