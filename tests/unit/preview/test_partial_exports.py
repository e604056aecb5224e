"""What was not read is not taken for free: clusters publish what all of their ModelReplicas take."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.reading.definitions import xrds
from modelplane.reading.tree import items
from unit.preview.test_catalogue import manifests
from unit.preview.test_given import replica

Manifest = dict[str, Any]


def of_team(namespace: str, name: str, replicas: int = 1, gpus: int = 8) -> Manifest:
    found = deployment(name, replicas, gpus)
    return {**found, "metadata": {"name": name, "namespace": namespace}}


def exported(*objects: Manifest) -> list[Manifest]:
    """Return what kubectl exports of a settled fleet, of all namespaces."""
    control = ControlPlane(objects)
    assert control.settle()
    return [obj for obj in control.everything() if obj["apiVersion"] == "modelplane.ai/v1alpha1"]


def without(namespace: str, objects: Iterable[Manifest]) -> list[Manifest]:
    return [obj for obj in objects if obj["metadata"].get("namespace") != namespace]


FLEET = (hardware(), cluster("east"), cluster("west", nodes=2))
#: Two of the three nodes are held: one by the team ml, one by the team ops.
HELD = (*FLEET, of_team("ml", "chat"), of_team("ops", "batch"))


def run(command: str, objects: Iterable[Manifest], *options: str) -> Result:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return CliRunner().invoke(main, [command, *options], input=json.dumps(listed))


def outcome(objects: Iterable[Manifest]) -> tuple[int, list[Any]]:
    """Return the exit code of a preview, and the refusals of the deployment ml/new."""
    done = run("preview", objects, "-", "-o", "json")
    (new,) = [each for each in json.loads(done.stdout)["deployments"] if each["name"] == "new"]
    return done.exit_code, [(each["reason"], each["count"]) for each in new["reasons"]]


def test_a_node_that_a_replica_of_another_team_holds_is_not_free() -> None:
    newcomer = of_team("ml", "new", replicas=2)
    full = exported(*HELD)
    assert outcome([*full, newcomer]) == (1, [("NoRoom", 2)])
    assert outcome([*without("ops", full), newcomer]) == (1, [("NoRoom", 2)])


def test_one_line_says_of_which_clusters_replicas_were_not_read() -> None:
    full = exported(*FLEET, of_team("ml", "chat", 2), of_team("ops", "batch"))
    rest = without("ops", without("ml", full))
    taken = "they take what their clusters publish of them"
    said = {
        "ops": f"Not in the input: 1 of 2 ModelReplicas on west; {taken}\n",
        "ml": f"Not in the input: 1 of 1 ModelReplica on east, 1 of 2 on west; {taken}\n",
    }
    assert {namespace: run("preview", without(namespace, full), "-").stderr for namespace in said} == said
    assert (
        run("preview", rest, "-").stderr == f"Not in the input: 1 of 1 ModelReplica on east, 2 of 2 on west; {taken}\n"
    )
    assert run("preview", full, "-").stderr == ""


def test_the_table_of_the_fleet_shows_the_room_of_the_full_export() -> None:
    full = exported(*HELD)
    tables = [run("preview", objects, "-").stdout.partition("\n\n")[0] for objects in (full, without("ops", full))]
    assert tables[0] == tables[1]
    totals, _, east, west = tables[1].splitlines()
    assert totals == "gpu: 16 of 24 claimed, 8 free"
    assert [line.split()[3:6] for line in (east, west)] == [["0", "of", "1"], ["1", "of", "2"]]


def test_profiles_have_the_outlook_of_the_full_export_but_for_what_owns_the_unread() -> None:
    hog = {**of_team("ops", "hog"), "spec": {"replicas": 2, "modelRef": {"name": "kimi-k2-instruct"}}}
    full = exported(*(each for each in manifests("kimi-k2-instruct.yaml") if each["kind"] != "ModelDeployment"), hog)
    found = []
    for objects in (full, without("ops", full)):
        done = run("profiles", objects, "kimi-k2-instruct", "--from", "-", "-n", "ml", "-o", "json")
        found += json.loads(done.stdout)["profiles"]
    (whole, part) = found
    assert part["state"] == "IfSomethingGoes"
    assert (whole.pop("replicas"), part.pop("replicas")) == (2, 0)
    assert (whole.pop("frees"), part.pop("frees")) == ([{"namespace": "ops", "name": "hog"}], [])
    # That they are of the model itself is not known of those that were not read.
    assert (whole.pop("freesOwn"), part.pop("freesOwn")) == (True, False)
    freed = [whole.pop("freedReplicas"), part.pop("freedReplicas")]
    assert [(len(names), names[0].startswith("ops/hog-")) for names in freed] == [(1, True), (1, True)]
    assert part == whole
    assert done.stderr.startswith("Not in the input: 2 of 2 ModelReplicas on ")


def drop_charges(obj: Manifest) -> Manifest:
    """Return a cluster that does not publish what its replicas take, because it is too long."""
    pools = [
        {field: value for field, value in pool.items() if field != "charged"} for pool in obj["status"]["gpuPools"]
    ]
    return {**obj, "status": {**obj["status"], "gpuPools": pools, "charges": {"published": False}}}


def test_a_cluster_that_does_not_publish_what_replicas_take_counts_as_full() -> None:
    full = [drop_charges(each) if each["kind"] == "InferenceCluster" else each for each in exported(*HELD)]
    newcomer = of_team("ml", "new", gpus=1)
    assert outcome([*full, newcomer]) == (0, [])
    part = without("ml", without("ops", full))
    assert outcome([*part, newcomer]) == (1, [("NoRoom", 2)])
    said = "they take what their clusters publish of them (east, west: not published, all nodes)\n"
    assert run("preview", part, "-").stderr.endswith(said)


def test_a_replica_that_holds_nothing_does_not_stand_for_one_that_was_not_read() -> None:
    by_hand = {**replica()["metadata"], "namespace": "ml"}
    full = exported(hardware(), cluster("east"), of_team("ops", "batch"), {**replica("none"), "metadata": by_hand})
    done = run("preview", [*without("ops", full), of_team("ml", "new")], "-", "-o", "json")
    assert "1 of 1 ModelReplica on east" in done.stderr
    assert json.loads(done.stdout)["deployments"][0]["unplaced"] == 1


def test_replicas_whose_names_are_not_published_take_room_too() -> None:
    full = exported(hardware(), cluster("east"), of_team("ml", "chat", 1, 1), of_team("ops", "batch", 5, 1))
    (east,) = [each for each in full if each["kind"] == "InferenceCluster"]
    pool = east["status"]["gpuPools"][0]
    pool.update(holders=pool["holders"][:3], moreHolders=3)
    done = run("preview", [*without("ops", full), of_team("ml", "new", 3, 1)], "-", "-o", "json")
    assert "5 of 6 ModelReplicas on east" in done.stderr
    (new,) = [each for each in json.loads(done.stdout)["deployments"] if each["name"] == "new"]
    assert new["unplaced"] == 1
    assert new["reasons"][0]["message"].endswith(" and 5 replicas of other namespaces)")


def test_a_cluster_that_names_no_holders_as_of_an_earlier_version_counts_the_replicas() -> None:
    full = exported(*HELD)
    for each in (each for each in full if each["kind"] == "InferenceCluster"):
        each["status"]["gpuPools"][0].pop("holders", None)
    newcomer = of_team("ml", "new", replicas=2)
    assert run("preview", full, "-").stderr == ""
    assert outcome([*full, newcomer]) == (1, [("NoRoom", 2)])
    assert outcome([*without("ops", full), newcomer]) == (1, [("NoRoom", 2)])


def control_of(objects: Iterable[Manifest]) -> ControlPlane:
    control = ControlPlane(objects)
    assert control.settle()
    return control


def held_devices(control: ControlPlane) -> dict[str, Any]:
    """Return how many devices of each cluster are held, as its own pass publishes them."""
    return {
        each["metadata"]["name"]: each["status"]["gpuPools"][0]["devicesCommitted"]["gpu"]
        for each in control.list("InferenceCluster")
    }


def test_the_pass_of_a_cluster_that_is_edited_publishes_what_was_not_read() -> None:
    control = control_of(without("ops", exported(*HELD)))
    before = held_devices(control)
    for name in before:
        edited = cluster(name, nodes=3, taints=[{"key": "drain", "effect": "NoSchedule"}])
        control.apply(edited)
    assert control.settle()
    assert held_devices(control) == before
    assert sum(before.values()) == 16


#: What is done to the full fleet before one more replica is asked for: nothing of it makes replicas unread.
CHANGES: dict[str, Callable[[ControlPlane], object]] = {
    "a replica goes": lambda control: control.delete("ModelDeployment", "ops", "batch"),
    "a cluster is given again as it is": lambda control: control.apply(control.get("InferenceCluster", None, "west")),
    "a deployment is edited": lambda control: control.apply(of_team("ml", "chat", replicas=2)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_in_the_preview_of_a_full_export_is_not_taken_for_unread(
    change: Callable[[ControlPlane], object],
) -> None:
    control = control_of(exported(*HELD))
    change(control)
    assert control.settle()
    assert control.unread() == []


def test_stand_ins_are_not_listed_and_compose_nothing() -> None:
    control = control_of(without("ops", exported(*HELD)))
    assert [each["metadata"]["namespace"] for each in control.list("ModelReplica")] == ["ml"]
    assert control.get("ModelReplica", "", "unread-1") is None


def test_no_api_server_keeps_the_field_that_only_stand_ins_have() -> None:
    (version,) = items(xrds()["ModelReplica"], "spec", "versions")
    engine = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["engines"]["items"]
    assert "charged" not in engine["properties"]
    assert not engine.get("x-kubernetes-preserve-unknown-fields")
