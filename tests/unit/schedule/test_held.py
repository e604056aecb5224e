"""A deployment says of each replica that runs on and is not as asked why it is not, where, and what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from unit.preview.fakes import TEAM, conditions_of, existing
from unit.schedule import objects

Edit = Callable[[dict[str, Any]], None]


def chat(replicas: int = 1, gpus: int = 8) -> dict[str, Any]:
    body = deployment(replicas=replicas, gpus=gpus)
    body["spec"]["rollout"] = {"maxSurge": 0, "maxUnavailable": replicas}
    return body


def settled(*objects: Any) -> ControlPlane:
    control = ControlPlane((hardware(), *objects), world=healthy)
    assert control.settle()
    return control


def replicas_ready(control: ControlPlane) -> tuple[str, str, str]:
    return conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["ReplicasReady"]


def container(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    return found


def name_secrets(many: int) -> Edit:
    def edit(body: dict[str, Any]) -> None:
        keys = [{"name": f"forgotten-{number}", "key": "k"} for number in range(many)]
        rows = [{"name": f"E{at}", "valueFrom": {"secretKeyRef": key}} for at, key in enumerate(keys)]
        container(body)["env"] = rows

    return edit


def ask_for_copies(body: dict[str, Any]) -> None:
    body["spec"]["engines"][0]["copies"] = 2


def select_wrongly(body: dict[str, Any]) -> None:
    body["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]["selectors"] = [{"cel": "device."}]


EDITS: dict[str, tuple[Edit, str]] = {
    "a missing Secret": (
        name_secrets(1),
        "Secret team/forgotten-0 does not exist; engine main reads it in env E0. Create it",
    ),
    "an invalid engine": (
        name_secrets(65),
        "the engines name 65 Secrets and ConfigMaps, at most 64 are copied. Put several keys into one",
    ),
    "growth without room": (
        ask_for_copies,
        "the edit is held, because it does not fit (pool pool: no room for engine main: needs 2 nodes, 1 free): "
        "free nodes, or undo the edit",
    ),
    "a selector that does not compile": (
        select_wrongly,
        "the edit is held, a selector of the deployment does not compile: correct it, ReplicasScheduled says where",
    ),
}


@pytest.mark.proves("R93", "P78")
@pytest.mark.parametrize(("edit", "why"), EDITS.values(), ids=EDITS)
def test_an_edit_that_is_held_is_named_with_replica_cluster_and_remedy_until_it_is_undone(edit: Edit, why: str) -> None:
    control = settled(cluster("east"), chat())
    (before,) = control.list("ModelReplica")
    edited = chat()
    edit(edited)
    control.apply(edited)
    assert control.settle()
    expected = f"1 of 1 replicas ready; not as asked: {before['metadata']['name']} on east: {why}"
    assert replicas_ready(control) == ("False", "EditHeld", expected)
    assert conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["Ready"][0] == "False"
    (replica,) = control.list("ModelReplica")
    assert conditions_of(replica)["ModelReady"][0] == "True"
    control.apply(chat())
    assert control.settle()
    assert replicas_ready(control)[:2] == ("True", "AllReplicasReady")


def test_a_cause_that_several_replicas_share_is_said_once() -> None:
    control = settled(cluster("east"), cluster("west"), chat(2))
    edited = chat(2)
    name_secrets(1)(edited)
    control.apply(edited)
    assert control.settle()
    message = replicas_ready(control)[2]
    assert message.count("Create it") == 1
    assert all(replica["metadata"]["name"] in message for replica in control.list("ModelReplica"))


def test_the_rollout_waits_for_a_replica_that_is_held_in_the_words_that_say_why() -> None:
    control = settled(cluster("east"), chat())
    edited = chat()
    name_secrets(1)(edited)
    control.apply(edited)
    assert control.settle()
    waited_for = existing(control, "ModelDeployment", TEAM, "chat")["status"]["rollout"]["waitingFor"]
    assert (waited_for["cluster"], "Secret team/forgotten-0" in waited_for["message"]) == ("east", True)


@pytest.mark.proves("R95", "P80")
def test_a_pool_that_became_smaller_than_what_runs_on_it_is_named_with_the_replica_that_is_too_much() -> None:
    control = settled(cluster("east", nodes=2), chat(2))
    control.apply(cluster("east", nodes=1))
    assert control.settle()
    status, reason, message = replicas_ready(control)
    assert (status, reason, len(control.list("ModelReplica"))) == ("False", "EditHeld", 2)
    (named,) = [
        each["metadata"]["name"] for each in control.list("ModelReplica") if each["metadata"]["name"] in message
    ]
    assert message == (
        f"2 of 2 replicas ready; not as asked: {named} on east: pool pool is too small: needs 1 node, other replicas "
        "leave 0: give the pool its nodes back, or scale down"
    )
    control.apply(cluster("east", nodes=2))
    assert control.settle()
    assert replicas_ready(control)[:2] == ("True", "AllReplicasReady")


@pytest.mark.proves("R95")
def test_a_pool_that_became_smaller_than_what_two_deployments_run_on_it_is_named_by_both() -> None:
    control = settled(cluster("east", nodes=2), chat(), deployment("batch", gpus=8))
    control.apply(cluster("east", nodes=1))
    assert control.settle()
    for name in ("chat", "batch"):
        body = existing(control, "ModelDeployment", TEAM, name)
        (replica,) = (
            r["metadata"]["name"] for r in control.list("ModelReplica") if r["metadata"]["name"].startswith(name)
        )
        assert conditions_of(body)["ReplicasReady"] == (
            "False",
            "EditHeld",
            f"1 of 1 replicas ready; not as asked: {replica} on east: pool pool is too small: needs 1 node, other "
            "replicas leave 0: give the pool its nodes back, or scale down",
        )
    control.delete("ModelDeployment", TEAM, "batch")
    assert control.settle()
    assert replicas_ready(control)[:2] == ("True", "AllReplicasReady")


@pytest.mark.proves("R95")
def test_a_pool_that_others_race_for_is_not_too_small_for_a_replica_that_serves() -> None:
    own, racers = objects.replica("c0"), [objects.replica("c0", 1, owner=name, served=False) for name in ("x", "y")]
    crowded = objects.cluster("c0", nodes=2)
    crowded.body["status"]["gpuPools"][0]["charged"] = "3*1x8"
    server = objects.Server(crowded, own, *racers)
    result, _ = objects.run(objects.deployment(), server, own)
    assert server.asked == {"cluster-c0": 1, "residents-c0": 3}
    assert [each.reason for each in result.conditions if each.type == "ReplicasReady"] == ["AllReplicasReady"]


def test_an_edit_on_its_way_is_not_held() -> None:
    control = settled(cluster("east"), chat())
    edited = chat()
    container(edited)["image"] = "example.org/engine:v2"
    control.apply(edited)
    seen = set()
    while not control.settle(max_passes=1):
        seen.add(replicas_ready(control)[1])
    assert "EditHeld" not in seen
