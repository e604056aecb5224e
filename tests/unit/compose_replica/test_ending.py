"""What a replica composes while it ends, and when it says that it has ended."""

from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_replica import replicas as given

#: What runs the engine, and what only watches its pods.
GONE = {"deployment-main", "leaderworkerset-main", "leaders-main", "workers-0-main", "pods"}


def ending(body: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {**body, "spec": {**body["spec"], "ending": True}, "status": {"served": True, **status}}


def ended(result: Result) -> bool:
    assert result.status is not None
    return bool(result.status.get("ended"))


def row(name: str) -> dict[str, Any]:
    return {"engine": "main", "kind": "Deployment", "name": "w", "object": name}


@pytest.mark.proves("R41")
@pytest.mark.parametrize("engine", [given.engine(), given.gang()], ids=["one pod", "a gang"])
def test_the_workloads_go_first_and_everything_else_stays_as_it_is(engine: dict[str, Any]) -> None:
    body = given.replica(engine)
    observed = given.serving(body)
    result = given.run(ending(body), observed)
    assert observed.keys() - result.desired.keys() == observed.keys() & GONE
    before = {name: found["spec"] for name, found in observed.items() if name not in GONE}
    assert {name: desired.build()["spec"] for name, desired in result.desired.items()} == before
    assert (ended(result), result.ready) == (False, False)


@pytest.mark.parametrize(("left", "over"), [([{"controller": True, "uid": "u"}], False), ([], True)])
def test_the_object_of_a_workload_is_asked_for_by_the_name_that_the_status_records(left: Any, over: bool) -> None:
    body = ending(given.replica(), workloads=[row("chat-1")])
    body["metadata"]["uid"] = "u"
    there = {"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", "kind": "Object"}
    found = {**there, "metadata": {"name": "chat-1", "namespace": "team", "ownerReferences": left}}
    answers: dict[str, Any] = {"workload-chat-1": [found] if left else []}
    result = given.run(body, **answers)
    (asked,) = [each for each in result.requirements if each.name == "workload-chat-1"]
    assert (asked.kind, asked.match_name, asked.namespace) == ("Object", "chat-1", "team")
    assert ended(result) is over
    assert dict(result.status or {})["workloads"] == [row("chat-1")]


def test_a_workload_that_is_not_fetched_yet_is_taken_to_be_there() -> None:
    body = ending(given.replica(), workloads=[row("chat-1")])
    assert ended(given.run(body, **{"workload-chat-1": None})) is False


def test_nothing_keeps_a_replica_from_ending() -> None:
    naming = {"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "gone", "key": "k"}}}]}
    members = [given.member(template={"spec": {"containers": [given.container(**naming)]}})]
    body, observed = given.replica(given.engine(members=members)), given.serving(given.replica())
    result = given.run(ending(body), observed, **{"source-Secret-gone": []}, cluster=[])
    assert "deployment-main" not in result.desired
    assert "service" in result.desired


@pytest.mark.parametrize("engine", [given.engine(), given.gang()], ids=["one pod", "a gang"])
def test_the_object_of_a_workload_stays_until_its_pods_are_gone_and_nothing_else_waits(engine: dict[str, Any]) -> None:
    desired = given.run(given.replica(engine)).desired
    objects = {name: found.build()["spec"] for name, found in desired.items()}
    policies = {
        name: spec["forProvider"].get("deletionPropagationPolicy")
        for name, spec in objects.items()
        if "forProvider" in spec
    }
    first = {name for name, policy in policies.items() if policy == "Foreground"}
    assert first == {"deployment-main", "leaderworkerset-main"} & policies.keys()
    assert {policies[name] for name in policies.keys() - first} == {None}
