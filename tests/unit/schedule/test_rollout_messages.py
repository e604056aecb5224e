"""What a deployment says to do about replicas that wait for room or have drifted fits what it asks for."""

from typing import Any

import pytest

from modelplane.model.conditions import Condition
from modelplane.step import Object
from unit.schedule.objects import Server, cluster, deployment, member, replica, run

IN_PLACE = "set spec.rollout.maxUnavailable to 1 to change it in place, with a short outage"
NO_CLUSTER = "no cluster carries the labels of spec.clusterSelector: label one, or correct the selector"
FULL = "(NoRoom: 1 pool pool: no room for engine main: needs 1 node, 0 free): free nodes for one"
MARS = {"clusterSelector": {"matchLabels": {"region": "mars"}}}
FOLLOW = {**MARS, "rollout": {"followSelectors": True}}


def reported(kind: str, **spec: Any) -> Condition:
    """Return a condition of a deployment with a replica that serves on the full cluster `a`."""
    own = replica("a")
    on_mars = [cluster("b", nodes=0, metadata={"labels": {"region": "mars"}})] if spec.pop("mars", False) else []
    result, _ = run(deployment(**spec), Server(cluster("a"), *on_mars, own), own)
    found: Condition = next(condition for condition in result.conditions if condition.type == kind)
    return found


DRIFTED: dict[str, tuple[dict[str, Any], str]] = {
    "they are not followed": (MARS, "; they stay until spec.rollout.followSelectors is true"),
    "no cluster is left": (FOLLOW, f"; they stay: {NO_CLUSTER}"),
    "no cluster has room": ({**FOLLOW, "mars": True}, "; each moves once a cluster that is allowed has room for it"),
}


@pytest.mark.proves("R65")
@pytest.mark.parametrize(("spec", "remedy"), DRIFTED.values(), ids=DRIFTED)
def test_a_replica_that_has_drifted_is_shown_what_would_move_it(spec: dict[str, Any], remedy: str) -> None:
    assert remedy in reported("PlacementDrifted", **spec).message


@pytest.mark.parametrize(("mars", "lacking"), [(True, FULL), (False, NO_CLUSTER)])
def test_what_only_a_new_replica_can_replace_is_not_promised_a_change_where_it_stands(mars: bool, lacking: str) -> None:
    found = reported("RolloutProgressing", mars=mars, **FOLLOW)
    assert (found.reason, lacking in found.message, IN_PLACE in found.message) == ("WaitingForRoom", True, False)


UNPLACED = {"replicas": 2, "rollout": {"maxSurge": 0, "maxUnavailable": 1}, "modelCacheRef": None}


@pytest.mark.proves("R65")
def test_a_rollout_whose_budget_other_replicas_use_up_says_so_and_names_the_field_to_raise() -> None:
    found = reported("RolloutProgressing", serving={"mode": "PrefillDecode"}, **UNPLACED)
    assert (found.status, found.reason) == ("True", "WaitingForRoom")
    assert (
        "1 not scheduled, see ReplicasScheduled; raise spec.rollout.maxUnavailable, because 1 replica" in found.message
    )


@pytest.mark.proves("R59")
def test_a_paused_rollout_counts_starting_replicas_too() -> None:
    paused: dict[str, Any] = {"rollout": {"paused": True}, "replicas": 2, "modelCacheRef": None}
    own = replica("a")
    edited = deployment(serving={"mode": "PrefillDecode"}, **paused)
    result, _ = run(edited, Server(cluster("a", nodes=2), own), own)
    found = next(condition for condition in result.conditions if condition.type == "RolloutProgressing")
    assert (found.reason, "; 1 new replica still starts at this revision" in found.message) == ("Paused", True)


@pytest.mark.proves("R65")
@pytest.mark.parametrize(
    ("edit", "there"),
    [
        ({"engines": [{"name": "main", "copies": 2, "members": [member()]}]}, {}),
        ({"rollout": {"maxSurge": 0, "maxUnavailable": 1}, "serving": {"mode": "PrefillDecode"}}, {}),
    ],
    ids=["more copies", "other pods"],
)
def test_the_pass_that_changes_the_last_replica_does_not_say_that_it_is_ready_or_complete(
    edit: dict[str, Any], there: dict[str, Any]
) -> None:
    own = replica("a")
    result, _ = run(deployment(modelCacheRef=None, **edit), Server(cluster("a", nodes=2, **there), own), own)
    said = {condition.type: (condition.status, condition.reason) for condition in result.conditions}
    assert said["ReplicasReady"] == ("False", "Degraded")
    assert said["RolloutProgressing"] == ("True", "RollingOut")


@pytest.mark.proves("R65")
def test_a_ready_of_an_earlier_spec_is_not_counted() -> None:
    own = replica("a")
    ready = [{**each, "observedGeneration": 1} for each in own.body["status"]["conditions"]]
    stale = {**own.body, "metadata": {**own.metadata, "generation": 2}}
    before = Object({**stale, "status": {**own.body["status"], "conditions": ready}}, object())
    result, _ = run(deployment(modelCacheRef=None), Server(cluster("a", nodes=2), before), before)
    found = next(condition for condition in result.conditions if condition.type == "ReplicasReady")
    assert (found.status, "0 of 1 replicas ready" in found.message) == ("False", True)


@pytest.mark.proves("R65")
def test_a_held_edit_to_more_copies_is_named_and_the_rollout_is_not_complete() -> None:
    own = replica("a")
    asked = deployment(modelCacheRef=None, engines=[{"name": "main", "copies": 2, "members": [member()]}])
    result, _ = run(asked, Server(cluster("a", status={"gpuPools": None}), own), own)
    said = {condition.type: condition for condition in result.conditions}
    held = "the edit is held, cluster a has not published its pools"
    assert (said["ReplicasReady"].reason, held in said["ReplicasReady"].message) == ("EditHeld", True)
    progress = said["RolloutProgressing"]
    assert (progress.status, "cluster a has not published its pools" in progress.message) == ("True", True)


@pytest.mark.proves("R65")
def test_a_rollout_that_can_change_replicas_in_place_names_the_budget_for_it() -> None:
    found = reported("RolloutProgressing", modelCacheRef=None, serving={"mode": "PrefillDecode"})
    assert (found.reason, IN_PLACE in found.message) == ("WaitingForRoom", True)


HUGE = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("500Gi")) >= 0'
WAITING: dict[str, tuple[dict[str, Any], str]] = {
    "no device satisfies it": (
        {"engines": [{"name": "main", "members": [member(HUGE)]}]},
        "no cluster can take a replica with the edit beside the ones that serve (NoDevice: 2 pool pool: request gpu "
        "needs memory >= 500Gi, the closest device (gpu.nvidia.com, gpu) has 140Gi): request devices that the fleet "
        "has, or add a pool of an InferenceClass that has such devices",
    ),
    "the fleet is full": (
        {"serving": {"mode": "PrefillDecode"}},
        "no cluster can take a replica with the edit beside the ones that serve (NoRoom: 2 pool pool: no room for "
        "engine main: needs 1 node, 0 free): free nodes for one, or set spec.rollout.maxUnavailable to 1 to change it "
        "in place, with a short outage",
    ),
}


@pytest.mark.proves("R94")
@pytest.mark.parametrize(("edit", "why"), WAITING.values(), ids=WAITING)
def test_an_edit_that_waits_says_what_each_cluster_lacks_and_the_deployment_is_not_ready(
    edit: dict[str, Any], why: str
) -> None:
    own, other = replica("a"), replica("b", owner="other")
    result, _ = run(deployment(modelCacheRef=None, **edit), Server(cluster("a"), cluster("b"), own, other), own)
    said = {condition.type: condition for condition in result.conditions}
    assert (said["RolloutProgressing"].reason, why in said["RolloutProgressing"].message) == ("WaitingForRoom", True)
    assert (said["ReplicasReady"].status, said["ReplicasReady"].reason) == ("False", "EditHeld")
    assert said["ReplicasReady"].message == f"1 of 1 replicas ready; not as asked: the edit waits: {why}"
    assert result.ready is False


@pytest.mark.proves("R91")
def test_a_replica_that_serves_until_its_replacement_does_counts_as_ready_and_the_deployment_stays_ready() -> None:
    own = replica("a")
    edited = deployment(serving={"mode": "PrefillDecode"}, modelCacheRef=None)
    result, _ = run(edited, Server(cluster("a"), cluster("b"), own), own)
    said = {condition.type: condition for condition in result.conditions}
    assert (said["RolloutProgressing"].status, said["RolloutProgressing"].reason) == ("True", "RollingOut")
    ready = said["ReplicasReady"]
    assert (ready.status, ready.reason) == ("True", "AllReplicasReady")
    assert ready.message.startswith("1 of 1 replicas ready (1 until others serve); not ready: a new one on b")
    assert (result.status["replicas"]["summary"], result.status["replicas"]["updatedSummary"]) == ("1/1", "0/1")
    assert result.ready is True


@pytest.mark.proves("R91")
def test_a_replica_that_leaves_a_cluster_that_does_not_answer_is_not_counted() -> None:
    tainted: dict[str, Any] = {"spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}}
    lost = [{"type": "Ready", "status": "False"}, {"type": "ClusterReady", "status": "False", "reason": "Unreachable"}]
    own = replica("a")
    result, _ = run(
        deployment(modelCacheRef=None),
        Server(cluster("a", status={"conditions": lost}, **tainted), cluster("b"), own),
        own,
    )
    said = {condition.type: condition for condition in result.conditions}
    assert (said["ReplicasReady"].status, result.status["replicas"]["ready"]) == ("False", 0)
