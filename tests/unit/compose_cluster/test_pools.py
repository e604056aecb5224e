"""The pools a cluster publishes: never fewer than serve, however its classes come and go."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_cluster import clusters as given

COUNTS = [
    ({"maxNodeCount": 8, "nodeCount": 2, "minNodeCount": 1}, 8),
    ({"nodeCount": 2, "minNodeCount": 1}, 2),
    ({"nodeCount": 0, "minNodeCount": 0}, 0),
    ({"minNodeCount": 3}, 3),
    ({"minNodeCount": 0}, 0),
    ({}, 1),
]


@pytest.mark.proves("P53")
@pytest.mark.parametrize(("counts", "nodes"), COUNTS)
def test_a_pool_has_as_many_nodes_as_it_can_have(counts: dict[str, int], nodes: int) -> None:
    body = given.cluster({"name": "l4", "className": "l4", **counts})
    assert given.status(given.run(body))["gpuPools"][0]["nodes"] == nodes


def test_pools_keep_the_operators_order_and_the_classs_devices() -> None:
    body = given.cluster(given.pool("z"), given.pool("a", className="h100"))
    devices = [given.L4 | {"name": "h100"}]
    result = given.run(body, class_h100=[given.device_class("h100", devices)])
    published = given.status(result)["gpuPools"]
    assert [(entry["name"], entry["devices"]) for entry in published] == [("z", [given.L4]), ("a", devices)]


BROKEN: dict[str, tuple[Any, str]] = {
    "not fetched yet": (None, "is not fetched yet"),
    "absent": ([], "does not exist. Create it"),
    "not accepted": ([given.device_class(devices=[given.BAD])], "is not accepted: spec.devices[gpu]"),
    "malformed": ([given.device_class(devices="gpu")], "is not accepted: spec.devices:"),
    "half-written": ([given.device_class() | {"spec": {}}], "is not accepted: spec.devices:"),
}


@pytest.mark.parametrize(("found", "words"), BROKEN.values(), ids=BROKEN)
def test_a_pool_of_a_broken_class_publishes_what_it_last_published(found: Any, words: str) -> None:
    last = {"name": "l4", "nodes": 1, "devices": [given.L4], "devicesCommitted": {"gpu": 3}}
    result = given.run(given.cluster(status={"gpuPools": [last]}), given.reached(), class_l4=found, replicas=None)
    assert given.status(result)["gpuPools"] == [last | {"nodes": 2}]
    ready = given.condition(result, "ClusterReady")
    assert (ready.status, ready.reason) == (Status.FALSE, "WaitingForClasses")
    assert ready.message.startswith("spec.nodePools[l4].className: InferenceClass l4 ")
    assert words in ready.message
    assert ready.message.endswith("stays as it was last published. Nothing new is placed on the cluster until then.")
    assert result.ready is False


@pytest.mark.parametrize(("found", "words"), BROKEN.values(), ids=BROKEN)
def test_a_new_pool_of_a_broken_class_is_left_out_and_the_others_stay(found: Any, words: str) -> None:
    body = given.cluster(given.pool("sound"), given.pool("new", className="other"))
    result = given.run(body, given.reached(), class_other=found)
    assert [entry["name"] for entry in given.status(result)["gpuPools"]] == ["sound"]
    ready = given.condition(result, "ClusterReady")
    assert ready.reason == "WaitingForClasses"
    assert ready.message.startswith("spec.nodePools[new].className: ")
    assert ready.message.endswith("Nothing new is placed on the cluster until then.")
    assert result.ready is False


def test_a_pool_that_is_taken_out_is_published_no_more() -> None:
    last = [{"name": name, "nodes": 1, "devices": [given.L4]} for name in ("l4", "gone")]
    result = given.run(given.cluster(status={"gpuPools": last}))
    assert [entry["name"] for entry in given.status(result)["gpuPools"]] == ["l4"]


def test_classes_are_asked_for_by_name_and_replicas_by_cluster() -> None:
    body = given.cluster(given.pool("a"), given.pool("b"), given.pool("c", className="h100"))
    asked = given.run(body, class_l4=None).requirements
    assert [(r.kind, r.match_name, dict(r.match_labels)) for r in asked] == [
        ("InferenceClass", "h100", {}),
        ("InferenceClass", "l4", {}),
        ("ModelReplica", None, {"modelplane.ai/cluster": "eu-1"}),
        ("InferenceGateway", "default", {}),
        ("ConfigMap", "modelplane-installation", {}),
    ]


def test_a_class_in_use_is_protected_and_stays_so_while_it_is_named() -> None:
    usage = {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "ClusterUsage",
        "metadata": {},
        "spec": {
            "of": {"apiVersion": "modelplane.ai/v1alpha1", "kind": "InferenceClass", "resourceRef": {"name": "l4"}},
            "reason": "in use by a node pool of InferenceCluster eu-1",
        },
    }
    assert given.bodies(given.run(given.cluster()))["class-in-use-l4"] == usage
    observed = {"class-in-use-l4": usage | {"metadata": {"name": "x"}}}
    missing: tuple[list[Any] | None, ...] = (None, [])
    for found in missing:
        assert "class-in-use-l4" not in given.run(given.cluster(), class_l4=found).desired
        assert "class-in-use-l4" in given.run(given.cluster(), observed, class_l4=found).desired
    other = given.cluster(given.pool(className="h100"))
    assert "class-in-use-l4" not in given.run(other, observed, class_h100=[given.device_class("h100")]).desired


@pytest.mark.proves("P50", "P143")
def test_capabilities_are_those_of_the_class_with_those_of_the_pool_over_them_field_by_field() -> None:
    declared = given.device_class("h100")
    declared["spec"]["capabilities"] = {"memoryPerGpu": "24Gi", "interconnect": "nvlink", "multiNodeCapable": False}
    own = {"multiNodeCapable": True, "interNodeBandwidth": "ib-400g"}
    body = given.cluster(
        given.pool("plain"),
        given.pool("of-class", className="h100"),
        given.pool("own", className="h100", capabilities=own),
    )
    published = given.status(given.run(body, class_h100=[declared]))["gpuPools"]
    assert [entry.get("capabilities") for entry in published] == [
        None,
        {"memoryPerGpu": "24Gi", "interconnect": "nvlink", "multiNodeCapable": False},
        {"memoryPerGpu": "24Gi", "interconnect": "nvlink", **own},
    ]


H100 = given.L4 | {"capacity": {"memory": {"value": "80Gi"}}}
TWO = [H100 | {"name": "left"}, H100 | {"name": "right"}]
NOT_PUBLISHED = "It is not published until then."
TOO_MUCH = "999Gi is more than a tenth above the memory of device gpu, 80Gi; correct one of them"
UNKNOWN = "middle is none of the devices that pods claim (left, right); name the one that is the GPU"
SEVERAL = "pods claim several devices (left, right) and none is named gpu"
#: The class's devices, what it declares, what the pool does, what was published; what is published, and the message.
OVERRIDES: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "memory on the box": ([H100], {}, {"memoryPerGpu": "88Gi"}, {}, {"memoryPerGpu": "88Gi"}, ""),
    "too much memory": (
        [H100],
        {"interconnect": "nvlink"},
        {"memoryPerGpu": "999Gi"},
        {},
        {"interconnect": "nvlink"},
        f"memoryPerGpu: {TOO_MUCH}. {NOT_PUBLISHED}",
    ),
    "too much memory of a pool that was published": (
        [H100],
        {"memoryPerGpu": "80Gi"},
        {"memoryPerGpu": "999Gi"},
        {"memoryPerGpu": "80Gi"},
        {"memoryPerGpu": "80Gi"},
        f"memoryPerGpu: {TOO_MUCH}. 80Gi is published until then, as it was before.",
    ),
    "too much memory that was published": (
        [H100],
        {},
        {"memoryPerGpu": "999Gi"},
        {"memoryPerGpu": "999Gi"},
        {},
        f"memoryPerGpu: {TOO_MUCH}. {NOT_PUBLISHED}",
    ),
    "the pool names the GPU": (
        TWO,
        {"interconnect": "x"},
        {"device": "left"},
        {},
        {"interconnect": "x", "device": "left"},
        "",
    ),
    "nobody names the GPU": (
        TWO,
        {"interconnect": "x"},
        {},
        {},
        {"interconnect": "x"},
        f"device: {SEVERAL}. Name the one that is the GPU: no profile is placed on the pool until then.",
    ),
    "the pool names another device": (
        TWO,
        {"device": "right"},
        {"device": "middle"},
        {"device": "right"},
        {"device": "right"},
        f"device: {UNKNOWN}. right is published until then, as it was before.",
    ),
}


@pytest.mark.parametrize(
    ("devices", "of_class", "of_pool", "before", "expected"),
    [(*case[:4], case[4:]) for case in OVERRIDES.values()],
    ids=OVERRIDES,
)
def test_what_a_pool_declares_and_its_devices_contradict_is_not_published_and_the_cluster_takes_replicas(
    devices: list[Any],
    of_class: dict[str, Any],
    of_pool: dict[str, Any],
    before: dict[str, Any],
    expected: tuple[dict[str, Any], str],
) -> None:
    published, message = expected
    declared = given.device_class("h100", devices)
    declared["spec"]["capabilities"] = of_class
    last = {"name": "own", "nodes": 2, "devices": devices, "capabilities": before}
    body = given.cluster(
        given.pool("own", className="h100", capabilities=of_pool),
        given.pool("other"),
        status={"gpuPools": [last] if before else []},
    )
    result = given.run(body, given.reached(), class_h100=[declared])
    entries = given.status(result)["gpuPools"]
    assert [(entry["name"], entry.get("capabilities", {})) for entry in entries] == [("own", published), ("other", {})]
    ready = given.condition(result, "ClusterReady")
    assert (ready.status, ready.reason) == (Status.TRUE, "ClusterRunning")
    assert ready.message == (f"spec.nodePools[own].capabilities.{message}" if message else "")


def test_a_pool_publishes_what_its_nodes_have_whatever_became_of_its_class() -> None:
    last = {"name": "l4", "nodes": 1, "devices": [given.L4], "node": {"memory": "1Gi"}}
    body = given.cluster(given.pool("l4", node={"cpu": 8, "memory": "60Gi"}), status={"gpuPools": [last]})
    for found in ([given.device_class()], []):
        published = given.status(given.run(body, given.reached(), class_l4=found))["gpuPools"]
        assert [entry["node"] for entry in published] == [{"cpu": 8, "memory": "60Gi"}]
    plain = given.cluster(given.pool("l4"), status={"gpuPools": [last]})
    assert "node" not in given.status(given.run(plain, given.reached(), class_l4=[]))["gpuPools"][0]
