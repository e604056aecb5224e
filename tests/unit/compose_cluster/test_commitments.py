"""What a cluster's replicas hold of it, counted as the scheduler charges it."""

import json
from typing import Any

import pytest

from modelplane.api.inferencecluster import GpuPool
from modelplane.compose_cluster.commitments import COMMITTED
from modelplane.model.names import LABEL_CLUSTER
from unit.compose_cluster import clusters as given


def _replica(name: str, copies: int = 1, count: int = 1, pool: str = "l4", cluster: str = "eu-1") -> dict[str, Any]:
    request = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": count}
    member = {"role": "Standalone", "nodePoolName": pool, "deviceRequests": [request]}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelReplica",
        "metadata": {"name": name, "namespace": "team", "uid": name, "labels": {LABEL_CLUSTER: "eu-1"}},
        "spec": {"clusterName": cluster, "engines": [{"name": "main", "copies": copies, "members": [member]}]},
    }


def _held(*replicas: dict[str, Any]) -> tuple[int, list[dict[str, int]]]:
    body = given.cluster(given.pool("l4"), given.pool("other"))
    status = given.status(given.run(body, replicas=list(replicas)))
    return status["replicas"], [entry["devicesCommitted"] for entry in status["gpuPools"]]


def test_copies_and_counts_are_summed_per_pool_and_device() -> None:
    replicas = [_replica("a", copies=2, count=3), _replica("b"), _replica("c", pool="other", count=8)]
    assert _held(*replicas) == (3, [{"gpu": 7}, {"gpu": 8}])


def test_a_mislabelled_replica_of_another_cluster_holds_nothing() -> None:
    assert _held(_replica("a", cluster="us-1")) == (0, [{"gpu": 0}, {"gpu": 0}])


def test_a_replica_by_hand_that_composes_nothing_for_lack_of_room_holds_nothing() -> None:
    body, crowd = given.cluster(), [_replica(f"r{number}", copies=2, count=8) for number in range(2)]
    body["status"] = given.status(given.run(body))
    status = given.status(given.run(body, replicas=crowd))
    assert (status["replicas"], status["gpuPools"][0]["devicesCommitted"]) == (1, {"gpu": 16})


def test_a_malformed_replica_counts_and_holds_nothing_readable() -> None:
    broken = _replica("a")
    broken["spec"]["engines"] = "none"
    assert _held(broken) == (1, [{"gpu": 0}, {"gpu": 0}])


def test_the_last_counts_stay_while_the_replicas_are_not_fetched() -> None:
    last = {
        "replicas": 4,
        "gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4], "devicesCommitted": {"gpu": 5}}],
    }
    status = given.status(given.run(given.cluster(status=last), replicas=None))
    assert status["replicas"] == 4
    assert status["gpuPools"][0]["devicesCommitted"] == {"gpu": 5}


def test_only_devices_that_can_be_claimed_are_counted() -> None:
    nic = {"name": "nic", "claim": "Synthetic", "driver": "nic.example.org", "count": 4}
    result = given.run(
        given.cluster(), class_l4=[given.device_class(devices=[given.L4, nic])], replicas=[_replica("a")]
    )
    assert given.status(result)["gpuPools"][0]["devicesCommitted"] == {"gpu": 1}


@pytest.mark.proves("R22")
def test_the_groups_on_each_pool_are_published_as_the_scheduler_compares_them() -> None:
    replicas = [_replica("a", copies=2, count=3), _replica("b"), _replica("c"), _replica("d", pool="other", count=8)]
    status = given.status(given.run(given.cluster(given.pool("l4"), given.pool("other")), replicas=replicas))
    assert [entry["charged"] for entry in status["gpuPools"]] == ["2*1x1 1*2x3", "1*1x8"]
    assert status["charges"]["published"] is True


def test_the_digest_of_the_residents_changes_with_a_generation_and_not_with_a_status() -> None:
    def digest(**parts: Any) -> str:
        replica = _replica("a")
        replica["metadata"]["generation"] = parts.pop("generation", 1)
        status = given.status(given.run(given.cluster(), replicas=[replica | parts]))
        return str(status["charges"]["residents"])

    assert digest() == digest(status={"served": True}) != digest(generation=2)


@pytest.mark.proves("R22")
def test_a_value_that_is_too_long_for_a_status_is_not_published_and_the_cluster_says_so() -> None:
    engines = 14
    replicas = [_replica(f"r{number}") for number in range(400)]
    for number, each in enumerate(replicas):
        (engine,) = each["spec"]["engines"]
        each["status"] = {"served": True}
        each["spec"]["engines"] = [
            {**engine, "name": f"e{at}", "copies": 1 + number * engines + at} for at in range(engines)
        ]
    last = {"gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4], "charged": "1*1x8"}]}
    status = given.status(given.run(given.cluster(status=last), replicas=replicas))
    assert "charged" not in status["gpuPools"][0]
    assert (status["charges"]["published"], status["replicas"]) == (False, 400)
    assert status["gpuPools"][0]["devicesCommitted"]["gpu"] > 0


@pytest.mark.parametrize(
    ("entries", "replicas", "published"), [(1, 2000, True), (12, 200, False), (10, 20, True), (6, 400, True)]
)
def test_the_status_of_a_cluster_of_8_pools_stays_below_64_kib_with_what_is_charged(
    entries: int, replicas: int, published: bool
) -> None:
    attributes = {f"attribute{at}": {"string": "x" * 16} for at in range(8)}
    devices = [{**given.L4, "name": f"gpu-{at}", "attributes": attributes} for at in range(entries)]
    pools = [given.pool(f"pool-{at}", nodeCount=400) for at in range(8)]
    there = [_replica(f"replica-{at}", 1 + at // 8, 1 + at % 7, f"pool-{at % 8}") for at in range(replicas)]
    for each in there:
        each["status"] = {"served": True}
    result = given.run(given.cluster(*pools), class_l4=[given.device_class(devices=devices)], replicas=there)
    status = given.status(result)
    assert (status["charges"]["published"], status["replicas"]) == (published, replicas)
    assert len(json.dumps(status)) < 64 * 1024
    again = given.run(given.cluster(*pools, status=status), class_l4=[], replicas=there)
    assert given.status(again) == status, "what was published takes no room from itself"


def test_the_last_groups_stay_while_the_replicas_are_not_fetched() -> None:
    last = {
        "charges": {"residents": "0123456789abcdef", "published": True},
        "gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4], "charged": "1*1x5"}],
    }
    status = given.status(given.run(given.cluster(status=last), replicas=None))
    assert (status["charges"], status["gpuPools"][0]["charged"]) == (last["charges"], "1*1x5")


def _asking(name: str, memory: str) -> dict[str, Any]:
    body = _replica(name)
    body["spec"]["engines"][0]["members"][0]["resources"] = {"requests": {"memory": memory}}
    return body


def test_what_replicas_ask_for_beside_devices_stands_behind_them() -> None:
    node = {"cpu": 8, "memory": "64Gi"}
    body = given.cluster(given.pool("l4", node=node), given.pool("other"))
    asking, plain = _asking("a", "16Gi"), _replica("c", pool="other")
    entries = given.status(given.run(body, replicas=[asking, _replica("b"), plain]))["gpuPools"]
    assert [entry["charged"] for entry in entries] == ["1*1x1 1*1x1,0,1024", "1*1x1"]
    assert [entry["devicesCommitted"] for entry in entries] == [{"gpu": 2}, {"gpu": 1}]


def test_pods_without_devices_are_published_before_the_others_of_their_replica() -> None:
    gang = _replica("a")
    worker = {"role": "Worker", "nodePoolName": "l4", "worker": {"nodes": 63}}
    gang["spec"]["engines"][0]["members"] = [*gang["spec"]["engines"][0]["members"], worker]
    body = given.cluster(given.pool("l4", node={"pods": 200}), given.pool("other"))
    entries = given.status(given.run(body, replicas=[gang]))["gpuPools"]
    assert [(entry["charged"], entry.get("node")) for entry in entries] == [("1*63x0+1x1", {"pods": 200}), ("", None)]


def test_charges_in_units_of_other_nodes_are_not_published_until_the_replicas_are_read_again() -> None:
    last = {"name": "l4", "nodes": 2, "devices": [given.L4], "charged": "1*1x1,0,1024", "devicesCommitted": {"gpu": 1}}
    status = {"gpuPools": [last | {"node": {"memory": "64Gi"}}]}

    def published(memory: str) -> dict[str, Any]:
        body = given.cluster(given.pool("l4", node={"memory": memory}), status=status)
        (entry,) = given.status(given.run(body, replicas=None))["gpuPools"]
        return dict(entry)

    assert published("64Gi")["charged"] == "1*1x1,0,1024"
    assert "charged" not in published("2Ti")
    assert published("2Ti")["devicesCommitted"] == {"gpu": 1}


def _named(*replicas: dict[str, Any]) -> list[tuple[list[str], int]]:
    body = given.cluster(given.pool("l4", nodeCount=2000), given.pool("other", nodeCount=2000))
    entries = given.status(given.run(body, replicas=list(replicas)))["gpuPools"]
    return [(entry.get("holders", []), entry.get("moreHolders", 0)) for entry in entries]


def test_who_holds_a_pool_is_named_whatever_namespace_that_is_in() -> None:
    another = _replica("b")
    another["metadata"]["namespace"] = "rivals"
    assert _named(another, _replica("a"), _replica("c", pool="other")) == [
        (["rivals/b", "team/a"], 0),
        (["team/c"], 0),
    ]


def test_of_many_holders_the_first_are_named_and_the_others_counted() -> None:
    long = "x" * 58
    (pool, more), (other, none) = _named(*(_replica(f"{long}{n:03}") for n in range(100)), _replica("c", pool="other"))
    assert (len(pool), more, none) == (32, 68, 0)
    assert other == ["team/c"]
    spread = [_replica(f"{long}{n:03}", pool=("l4", "other")[n // 40]) for n in range(80)]
    assert sum(len(name) for names, _ in _named(*spread) for name in names) <= 4096
    assert [len(names) + more for names, more in _named(*spread)] == [40, 40]


def test_who_held_a_pool_stays_named_while_the_replicas_are_not_fetched() -> None:
    last = {"name": "l4", "nodes": 2, "devices": [given.L4], "holders": ["team/a"], "moreHolders": 3}
    body = given.cluster(given.pool("l4", node={"memory": "1Gi"}), status={"gpuPools": [last]})
    (entry,) = given.status(given.run(body, replicas=None))["gpuPools"]
    assert (entry["holders"], entry["moreHolders"]) == (["team/a"], 3)


def test_every_field_of_a_published_pool_is_declared_or_computed_from_its_replicas() -> None:
    declared = {
        "node": {"cpu": 8},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "capabilities": {"interconnect": "pcie"},
    }
    result = given.run(given.cluster(given.pool("l4", **declared)), replicas=None)
    (published,) = given.status(result)["gpuPools"]
    assert published.keys() == GpuPool.model_fields.keys() - {*COMMITTED, "leaving", "bound"}
