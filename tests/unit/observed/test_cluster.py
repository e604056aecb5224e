"""How an InferenceCluster is read, and what a half-written one reads as."""

from typing import Any

import pytest

from modelplane.lru import ENTRY
from modelplane.model.fleet import Attribute, Cluster, Device, Effect, Pool, Taint
from modelplane.observed.cluster import _weigh, read_cluster
from modelplane.observed.memo import _LIMIT
from modelplane.step import Object

GPU = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"productName": {"string": "NVIDIA H200"}, "cudaComputeCapability": {"version": "9.0.0"}},
    "capacity": {"memory": {"value": "140Gi"}},
}


def cluster(name: str, **parts: Any) -> Object:
    body = {"kind": "InferenceCluster", "metadata": {"name": name, **parts.pop("metadata", {})}, **parts}
    return Object(body, (name, repr(parts), repr(body)))


def test_a_published_cluster_reads_whole() -> None:
    read = read_cluster(
        cluster(
            "a",
            metadata={"labels": {"region": "eu"}},
            spec={"taints": [{"key": "k", "effect": "NoExecute"}]},
            status={
                "conditions": [{"type": "Ready", "status": "True"}],
                "gateway": {"address": "192.0.2.1"},
                "gpuPools": [{"name": "p", "nodes": 2, "devices": [GPU]}],
            },
        )
    )
    device = Device(
        name="gpu",
        driver="gpu.nvidia.com",
        device_class="gpu.nvidia.com",
        count=8,
        attributes=(
            Attribute("cudaComputeCapability", "version", "9.0.0"),
            Attribute("productName", "string", "NVIDIA H200"),
        ),
        capacity=(("memory", "140Gi"),),
    )
    assert read == Cluster(
        name="a",
        labels={"region": "eu"},
        ready=True,
        address="192.0.2.1",
        taints=(Taint("k", Effect.NO_EXECUTE),),
        pools=(Pool("p", 2, (device,)),),
        stages_caches=False,
    )


def test_a_gateway_hostname_is_dialled_before_its_address() -> None:
    status = {"gateway": {"address": "192.0.2.1", "hostname": "gw.example.org"}}
    assert read_cluster(cluster("b", status=status)).address == "gw.example.org"


@pytest.mark.parametrize(
    "published",
    [
        None,
        "text",
        [],
        [None],
        [{"nodes": 2}],
        [{"name": "p", "nodes": 2}],
        [{"name": "p", "devices": {}}],
        [{"name": "p", "devices": [GPU, None]}],
        [{"name": "p", "devices": [{"name": "gpu"}]}],
        [{"name": "p", "devices": [{**GPU, "claim": "Magic"}]}],
        [{"name": "p", "devices": [{**GPU, "attributes": {"x": {"string": "a", "int": 1}}}]}],
        [{"name": "p", "devices": [{**GPU, "capacity": {"memory": "140Gi"}}]}],
        [{"name": "ok", "nodes": 1, "devices": [GPU]}, {"name": 7}],
    ],
    ids=repr,
)
def test_one_unreadable_pool_makes_all_pools_unknown_never_gone(published: object) -> None:
    assert read_cluster(cluster("c", status={"gpuPools": published})).pools is None


@pytest.mark.parametrize(("nodes", "read"), [(None, 0), (-3, 0), ("2", 0), (True, 0), (0, 0), (5, 5)])
def test_null_negative_and_unreadable_node_counts_read_as_zero(nodes: object, read: int) -> None:
    pools = read_cluster(cluster("d", status={"gpuPools": [{"name": "p", "nodes": nodes, "devices": [GPU]}]})).pools
    assert pools is not None
    assert pools[0].nodes == read


@pytest.mark.parametrize(("node", "read"), [(None, 100), ({"cpu": 8}, 100), ({"pods": 0}, 100), ({"pods": 58}, 58)])
def test_a_node_runs_the_pods_that_its_pool_declares_else_a_hundred(node: object, read: int) -> None:
    published = [{"name": "p", "nodes": 1, "devices": [GPU], "node": node}]
    pools = read_cluster(cluster("d", status={"gpuPools": published})).pools
    assert pools is not None
    assert pools[0].pods == read


@pytest.mark.parametrize("status", [None, "x", [], {"conditions": "x", "gateway": [], "gpuPools": {}}], ids=repr)
def test_a_malformed_status_reads_as_not_ready_without_address_and_pools(status: object) -> None:
    read = read_cluster(cluster("e", status=status))
    assert (read.ready, read.address, read.pools) == (False, None, None)


def test_equal_devices_of_many_clusters_are_one_value() -> None:
    status = {"gpuPools": [{"name": "p", "nodes": 1, "devices": [GPU]}]}
    one, other = read_cluster(cluster("f", status=status)).pools, read_cluster(cluster("g", status=status)).pools
    assert one is not None
    assert other is not None
    assert one[0].devices[0] is other[0].devices[0]


def test_a_version_of_an_object_is_read_once() -> None:
    obj = cluster("h", status={})
    assert read_cluster(obj) is read_cluster(Object({}, obj.key))


def test_a_cluster_stages_caches_where_it_names_a_storage_class_for_them() -> None:
    assert read_cluster(cluster("e", status={"cache": {"storageClassName": "shared"}})).stages_caches
    assert not read_cluster(cluster("e", status={"cache": {}})).stages_caches


def test_what_is_read_of_ten_thousand_alike_clusters_is_kept() -> None:
    pools = [{"name": f"pool-{at}", "nodes": 8, "devices": [GPU], "charged": "2*1x8"} for at in range(4)]
    labels = {f"example.com/label-{at}": f"a-usual-value-{at}" for at in range(10)}
    status = {"gpuPools": pools, "gateway": {"address": "10.0.0.1"}}
    read = [read_cluster(cluster(f"kept-{at}", metadata={"labels": labels}, status=status)) for at in range(100)]
    assert 10_000 * (_weigh(read[-1]) + ENTRY) <= _LIMIT
