"""A Deployment is complete when its generation is current and all its counts are the asked one; one copy serves."""

from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel

from modelplane.compose_replica.readiness import DEPLOYMENT_READY
from modelplane.model.conditions import Status
from modelplane.step import AWAITING
from unit.compose_replica import replicas as given

FULL = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}


def _without(field: str) -> dict[str, int]:
    return {name: value for name, value in FULL.items() if name != field}


TABLE: dict[str, tuple[Any, bool]] = {
    "all counts": (FULL, True),
    "no status": (None, False),
    "empty status": ({}, False),
    "old generation": (FULL | {"observedGeneration": 0}, False),
    "a copy missing": (FULL | {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}, False),
    "a copy unavailable": (FULL | {"availableReplicas": 1}, False),
    "a copy outdated": (FULL | {"updatedReplicas": 1}, False),
    "a copy too many": (FULL | {"replicas": 3}, False),
    "available by condition alone": (
        {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]},
        False,
    ),
    **{f"without {field}": (_without(field), False) for field in FULL},
}


def _cel(manifest: dict[str, Any]) -> bool:
    environment = celpy.Environment()
    program = environment.program(environment.compile(DEPLOYMENT_READY))
    return bool(program.evaluate({"object": json_to_cel(manifest)}))


@pytest.mark.parametrize(("status", "ready"), TABLE.values(), ids=TABLE)
def test_the_query_and_the_function_agree_on_when_a_deployment_is_complete(status: Any, ready: bool) -> None:
    body = given.replica(given.engine(copies=2))
    observed = given.serving(body)
    there = observed["deployment-main"]["status"]["atProvider"]["manifest"]
    there.pop("status")
    if status is not None:
        there["status"] = status
    result = given.run(body, observed)
    assert _cel(there) is ready
    assert (result.status or {})["complete"] is ready
    serves = bool(status) and status.get("availableReplicas", 0) > 0
    assert result.ready is serves
    assert given.condition(result, "ModelReady").status is (Status.TRUE if serves else Status.FALSE)
    assert result.desired["deployment-main"].ready is ready


@pytest.mark.parametrize("case", ["old generation", "a copy outdated", "a copy too many"])
def test_a_workload_whose_copies_are_all_available_says_what_it_lacks(case: str) -> None:
    body = given.replica(given.engine(copies=2))
    observed = given.serving(body)
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"] = TABLE[case][0]
    shown = given.condition(given.run(body, observed), "ModelReady").message
    assert shown == "engine main: 2 of 2 copies ready, serving: not updated yet"


def test_every_workload_must_serve() -> None:
    body = given.replica(given.engine("a"), given.engine("b"))
    observed = given.serving(body)
    assert given.run(body, observed).ready is True
    del observed["deployment-b"]["status"]
    result = given.run(body, observed)
    assert result.ready is False
    assert given.condition(result, "ModelReady").message == "engine b: 0 of 1 copies ready: not applied yet"


@pytest.mark.parametrize("resource", ["service", "httproute"])
def test_a_replica_is_ready_only_once_its_edge_is_applied(resource: str) -> None:
    body = given.replica()
    observed = given.serving(body)
    observed[resource]["status"]["conditions"] = [given.synced()]
    result = given.run(body, observed)
    assert result.ready is False
    assert "not applied yet" in given.condition(result, "ModelReady").message


def test_the_workload_tells_in_its_own_words_why_it_does_not_serve() -> None:
    body = given.replica()
    observed = given.serving(body)
    there = observed["deployment-main"]["status"]["atProvider"]["manifest"]
    stuck = {"type": "Progressing", "status": "False", "message": "exceeded its progress deadline."}
    refused = {"type": "ReplicaFailure", "status": "True", "message": "quota exceeded"}
    fine = {"type": "Available", "status": "True", "message": "has minimum availability"}
    there["status"] = {"observedGeneration": 1, "replicas": 0, "conditions": [stuck, refused, fine]}
    result = given.run(body, observed)
    words = "exceeded its progress deadline. quota exceeded"
    ready = given.condition(result, "ModelReady")
    assert (ready.reason, ready.message) == ("ModelStarting", f"engine main: 0 of 1 copies ready: {words}")
    assert result.status is not None
    assert result.status["workloads"] == [
        {
            "engine": "main",
            "kind": "Deployment",
            "name": there["metadata"]["name"],
            "object": "x-deployment",
            "ready": 0,
            "desired": 1,
            "message": words,
        }
    ]


def _with_available(body: dict[str, Any], available: int) -> dict[str, Any]:
    observed = given.serving(body)
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"]["availableReplicas"] = available
    return observed


@pytest.mark.proves("R9", "P32")
def test_a_replica_that_has_lost_a_copy_of_64_serves_and_says_that_it_is_not_complete() -> None:
    body = given.replica(given.engine(copies=64))
    result = given.run(body, _with_available(body, 63))
    ready = given.condition(result, "ModelReady")
    assert (ready.status, ready.reason) == (Status.TRUE, "Serving")
    assert ready.message == "engine main: 63 of 64 copies ready, serving"
    assert (result.ready, (result.status or {})["complete"]) == (True, False)
    assert result.ttl == AWAITING


def test_a_replica_of_which_an_engine_has_no_copy_does_not_serve() -> None:
    body = given.replica(given.engine("main", copies=2), given.engine("other", copies=2))
    assert given.run(body, _with_available(body, 1)).ready is True
    assert given.run(body, _with_available(body, 0)).ready is False


@pytest.mark.proves("R9")
@pytest.mark.parametrize(("copies", "serves"), [(1, False), (2, True)])
def test_an_edit_takes_one_copy_at_once_and_the_others_go_on_to_serve(copies: int, serves: bool) -> None:
    """With one copy nothing is left; the copies of the old templates never count for the new ones."""
    image = {"spec": {"containers": [given.container(image="new")]}}
    before = given.replica(given.engine(copies=copies))
    served = given.run(before, given.serving(before)).status or {}
    after = given.replica(given.engine(copies=copies, members=[given.member(template=image)]), status=served)
    observed = given.serving(before)
    edited = given.run(after, observed)
    status = edited.status or {}
    assert (edited.ready, status["complete"]) == (serves, False)
    assert status["servedStamp"] == served["servedStamp"]

    # The provider has not acted yet, then it has, and the Deployment's controller has not.
    observed["deployment-main"]["spec"] = edited.desired["deployment-main"].build()["spec"]
    observed["deployment-main"]["metadata"]["generation"] = 2
    conditions = observed["deployment-main"]["status"]["conditions"]
    observed["deployment-main"]["status"]["conditions"] = [{**found, "observedGeneration": 1} for found in conditions]
    waits = given.run({**after, "status": status}, observed)
    assert (waits.ready, (waits.status or {})["complete"]) == (serves, False)
    observed["deployment-main"]["status"]["conditions"] = conditions
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["metadata"]["generation"] = 2
    unseen = given.run({**after, "status": waits.status}, observed)
    assert (unseen.ready, (unseen.status or {})["complete"]) == (serves, False)

    done = given.run({**after, "status": unseen.status}, given.serving(after))
    assert (done.ready, (done.status or {})["complete"]) == (True, True)
    assert (done.status or {})["servedStamp"] != served["servedStamp"]


def test_more_copies_take_none_of_those_that_serve() -> None:
    before, after = given.replica(), given.replica(given.engine(copies=3))
    status = given.run(before, given.serving(before)).status
    observed = given.serving(before)
    grown = given.run({**after, "status": status}, observed)
    assert grown.ready is True
    observed["deployment-main"]["spec"] = grown.desired["deployment-main"].build()["spec"]
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["metadata"]["generation"] = 2
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["spec"]["replicas"] = 3
    result = given.run({**after, "status": grown.status}, observed)
    assert (result.ready, (result.status or {})["complete"]) == (True, False)
    assert (result.status or {})["servedEngines"] == before["spec"]["engines"]
