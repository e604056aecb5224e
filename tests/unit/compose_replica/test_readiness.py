"""A Deployment serves when its generation is current and all its counts are the asked one: in CEL and in Python."""

from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel

from modelplane.compose_replica.readiness import DEPLOYMENT_READY
from modelplane.model.conditions import Status
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
def test_the_query_and_the_function_agree_on_when_a_deployment_serves(status: Any, ready: bool) -> None:
    body = given.replica(given.engine(copies=2))
    observed = given.serving(body)
    there = observed["deployment-main"]["status"]["atProvider"]["manifest"]
    there.pop("status")
    if status is not None:
        there["status"] = status
    result = given.run(body, observed)
    assert _cel(there) is ready
    assert result.ready is ready
    assert given.condition(result, "ModelReady").status is (Status.TRUE if ready else Status.FALSE)
    assert result.desired["deployment-main"].ready is ready


@pytest.mark.parametrize("case", ["old generation", "a copy outdated", "a copy too many"])
def test_a_workload_whose_copies_are_all_available_says_what_it_lacks(case: str) -> None:
    body = given.replica(given.engine(copies=2))
    observed = given.serving(body)
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"] = TABLE[case][0]
    shown = given.condition(given.run(body, observed), "ModelReady").message
    assert shown == "engine main: 2 of 2 copies ready: not updated yet"


def test_every_workload_must_serve() -> None:
    body = given.replica(given.engine("a"), given.engine("b"))
    observed = given.serving(body)
    assert given.run(body, observed).ready is True
    del observed["deployment-b"]["status"]
    result = given.run(body, observed)
    assert result.ready is False
    assert given.condition(result, "ModelReady").message == "engine b: 0 of 1 copies ready: not applied yet"


@pytest.mark.parametrize("resource", ["service", "httproute", "httproute-path"])
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
