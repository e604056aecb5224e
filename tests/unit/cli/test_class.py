"""`modelplane class`: InferenceClasses from what the inventory of a cluster publishes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from golden import Golden
from modelplane.cli import main
from modelplane.compose_cluster.inference_class import find_problems
from unit.compose_cluster import clusters as given
from unit.compose_cluster import test_inventory as seen
from unit.live.played import played_kubectl

HERE = Path(__file__).parent
L4 = seen.GPUS
NIC: dict[str, Any] = {"driver": "dra.net", "count": 2, "attributes": {"dra.net/rdma": {"bool": True}}}
CHANNELS = {"driver": "compute-domain.nvidia.com", "count": 1}
#: A class with what no node publishes, and with values that are wrong.
DECLARED = given.device_class(
    devices=[
        {
            "name": "card",
            "driver": "gpu.nvidia.com",
            "deviceClassName": "ours",
            "capacity": {"memory": {"value": "1Gi"}},
        },
        {"name": "license", "driver": "example.org", "claim": "Synthetic"},
    ]
)
DECLARED["spec"] |= {"description": "Ours.", "capabilities": {"interconnect": "pcie"}}


def fleet(pools: dict[str, list[dict[str, Any]]], *more: dict[str, Any], classes: str = "l4") -> list[dict[str, Any]]:
    """Return a cluster of these pools, of one class, and the Object that observes its inventory."""
    observes = given.bodies(seen.ran(seen.document()))["inventory"]
    observes["metadata"]["name"] = "eu-1-inventory"
    observed = {"data": {"inventory": seen.document(pools=pools)}}
    observes["status"] = {"atProvider": {"manifest": {"kind": "ConfigMap", **observed}}}
    ref = {"apiVersion": observes["apiVersion"], "kind": "Object", "namespace": "modelplane-system"}
    cluster = given.cluster(*(given.pool(name, className=classes) for name in pools))
    cluster["status"] = {"clusterUID": seen.UID}
    cluster["spec"]["crossplane"] = {"resourceRefs": [{**ref, "name": "eu-1-gone"}, {**ref, "name": "eu-1-inventory"}]}
    return [cluster, observes, *more]


def ask(objects: list[dict[str, Any]], *options: str, name: str = "eu-1") -> Result:
    arguments = ["class", "--from-cluster", name, "-f", "-", *options]
    return CliRunner().invoke(main, arguments, input=yaml.safe_dump_all(objects))


def printed(objects: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:
    """Return the classes that are printed, all of which Modelplane accepts."""
    done = ask(objects, *options)
    assert done.exit_code == 0, done.output
    found = list(yaml.safe_load_all(done.stdout))
    assert [find_problems(given.obj(each)) for each in found] == [()] * len(found)
    return found


def test_the_output_is_whole(golden: Golden) -> None:
    other = {**L4, "count": 4}
    groups = [seen.group(2, devices=[CHANNELS, NIC, L4]), seen.group(devices=[other])]
    done = ask(fleet({"l4": groups}))
    golden.compare_text(HERE / "class.yaml.txt", done.stdout)
    golden.compare_text(HERE / "class.notes.txt", done.stderr)


def test_a_class_that_is_declared_keeps_what_no_node_publishes() -> None:
    (found,) = printed(fleet({"l4": [seen.group(2, devices=[NIC, L4])]}, DECLARED))
    card, synthetic = found["spec"]["devices"]
    assert (found["metadata"]["name"], card["name"], card["deviceClassName"]) == ("l4", "card", "ours")
    assert (card["count"], card["capacity"]) == (8, {"memory": {"value": "23034Mi"}})
    assert card["attributes"] == given.L4["attributes"]
    assert synthetic == DECLARED["spec"]["devices"][1]
    assert {**found["spec"], "devices": 0} == {**DECLARED["spec"], "devices": 0}


def test_what_it_prints_differs_from_nothing_that_is_published() -> None:
    other = {**L4, "attributes": {**L4["attributes"], "gpu.nvidia.com/architecture": {"string": "Hopper"}}}
    pools = {"l4": [seen.group(2, devices=[other])]}
    (found,) = printed(fleet(pools, given.device_class()))
    assert "publish Hopper" in given.condition(seen.ran(seen.document(pools=pools)), "ClusterReady").message
    found["spec"]["devices"][0]["claim"] = "DRA"  # the default of the API
    assert given.condition(seen.ran(seen.document(pools=pools), of_class=found), "ClusterReady").message == ""


def test_pools_that_share_a_class_get_one_each_where_their_devices_differ() -> None:
    pools = {"a": [seen.group()], "b": [seen.group()], "c": [seen.group(devices=[{**L4, "count": 4}])]}
    found = printed(fleet(pools))
    assert [(each["metadata"]["name"], each["spec"]["devices"][0]["count"]) for each in found] == [("l4", 8), ("c", 4)]
    (one,) = printed(fleet(pools), "--pool", "c")
    assert one["metadata"]["name"] == "l4"


def test_kinds_of_one_driver_get_an_entry_each() -> None:
    small = {**L4, "count": 1, "capacity": {"gpu.nvidia.com/memory": {"value": "12Gi"}}}
    (found,) = printed(fleet({"l4": [seen.group(devices=[L4, small])]}))
    assert [(each["name"], each["count"]) for each in found["spec"]["devices"]] == [("gpu", 8), ("gpu-2", 1)]


def test_values_and_devices_that_a_class_does_not_take_are_left_out_and_said() -> None:
    many = {f"gpu.nvidia.com/a{number}": {"int": number} for number in range(33)}
    groups = [seen.group(devices=[{**L4, "attributes": many}, {"driver": "dra.net", "count": 65}])]
    done = ask(fleet({"l4": groups}))
    assert "pool l4: 65 devices of dra.net are left out: at most 64" in done.stderr
    assert "pool l4: devices[gpu]: 1 values are left out that a class does not take" in done.stderr
    assert len(yaml.safe_load(done.stdout)["spec"]["devices"][0]["attributes"]) == 32


#: What is asked, the exit code and what is said.
REFUSED: dict[str, tuple[list[dict[str, Any]], tuple[str, ...], int, str]] = {
    "no such cluster": ([given.cluster(metadata={"name": "eu-2"})], (), 2, "There is no InferenceCluster eu-1"),
    "no inventory": ([given.cluster()], (), 1, "InferenceCluster eu-1: none of the Objects that it composes"),
    "no such pool": (fleet({"l4": []}), ("--pool", "b"), 2, "InferenceCluster eu-1 has no pool b; there are: l4"),
    "no devices": (
        fleet({"l4": [seen.group(devices=[])]}),
        (),
        1,
        "pool l4: no node publishes a device that a class takes",
    ),
}


@pytest.mark.parametrize(("objects", "options", "code", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_printed_is_said(
    objects: list[dict[str, Any]], options: tuple[str, ...], code: int, why: str
) -> None:
    done = ask(objects, *options)
    assert (done.exit_code, done.stdout, why in done.stderr) == (code, "", True), done.stderr


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (seen.document(seen.group(), clusterUID="5678"), "is of the cluster with uid 5678, and this one has 1234"),
        ("{", "is no JSON"),
    ],
    ids=["another cluster's", "no JSON"],
)
def test_a_document_that_does_not_count_makes_no_class(document: str, why: str) -> None:
    objects = fleet({"l4": [seen.group()]})
    objects[1]["status"]["atProvider"]["manifest"]["data"]["inventory"] = document
    done = ask(objects)
    assert (done.exit_code, done.stdout, why in done.stderr) == (1, "", True), done.stderr


def test_a_control_cluster_is_asked_for_the_cluster_and_what_it_names_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl = played_kubectl(tmp_path)
    monkeypatch.setenv("PATH", kubectl.environment()["PATH"])
    cluster, observes = fleet({"l4": [seen.group()]})
    objects = "/apis/kubernetes.m.crossplane.io/v1alpha1/namespaces/modelplane-system/objects"
    of_ours = "/apis/modelplane.ai/v1alpha1"
    answers: dict[str, list[tuple[int, Any]]] = {
        f"{of_ours}/inferenceclusters/eu-1": [(200, cluster)],
        f"{objects}/eu-1-gone": [(404, {})],
        f"{objects}/eu-1-inventory": [(200, observes)],
        f"{of_ours}/inferenceclasses/l4": [(200, DECLARED)],
    }
    kubectl.answer(answers)
    done = CliRunner().invoke(main, ["class", "--from-cluster", "eu-1", "-o", "json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["spec"]["devices"][0]["name"] == "card"
    assert sorted(kubectl.asked()) == sorted(answers)


def test_of_the_kinds_of_a_driver_an_entry_gets_the_closest_one() -> None:
    small = {**L4, "count": 1, "capacity": {"gpu.nvidia.com/memory": {"value": "12Gi"}}}
    entries = [{**given.L4, "name": "big"}, {**given.L4, "name": "small", "capacity": {"memory": {"value": "12Gi"}}}]
    for kinds in ([L4, small], [small, L4]):
        objects = fleet({"l4": [seen.group(devices=kinds)]}, given.device_class(devices=entries))
        (found,) = printed(objects)
        assert [(each["name"], each["count"]) for each in found["spec"]["devices"]] == [("big", 8), ("small", 1)]
