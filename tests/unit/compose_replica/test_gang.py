"""A gang serves when its set counts all of it up to date and ready, and the sets it is made of do not say otherwise."""

import copy
from collections.abc import Callable
from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel

from modelplane.compose_replica.readiness import GANG_READY, STATEFUL_SET_READY
from modelplane.composing.engine_warnings import find_warnings
from modelplane.composing.messages import sentences
from unit.compose_replica import replicas as given

BODY = given.replica(given.gang(copies=2, nodes=3))
OBSERVED = given.serving(BODY)
NAME = OBSERVED["leaderworkerset-main"]["spec"]["forProvider"]["manifest"]["metadata"]["name"]
MARK = "modelplane.ai/template"


def stateful_set(replicas: int, ready: int, mark: str, **status: Any) -> dict[str, Any]:
    """Return a StatefulSet as LeaderWorkerSet makes one."""
    return {
        "metadata": {"generation": 1},
        "spec": {"replicas": replicas, "template": {"metadata": {"annotations": {MARK: mark}}}},
        "status": {"observedGeneration": 1, "readyReplicas": ready, **status},
    }


def seen() -> dict[str, dict[str, Any]]:
    """Return everything as it is observed once both copies serve, the sets of leaders and workers included."""
    found = copy.deepcopy(OBSERVED)
    template = _there(found, "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    mark = template["metadata"]["annotations"][MARK]
    for resource, replicas in {"leaders-main": 2, "workers-0-main": 3, "workers-1-main": 3}.items():
        found[resource]["status"]["atProvider"] = {"manifest": stateful_set(replicas, replicas, mark)}
    return found


def _there(found: dict[str, dict[str, Any]], resource: str) -> dict[str, Any]:
    manifest: dict[str, Any] = found[resource]["status"]["atProvider"]["manifest"]
    return manifest


def _set(resource: str, **status: Any) -> Callable[[dict[str, Any]], None]:
    return lambda found: _there(found, resource)["status"].update(status)


def _available_only(found: dict[str, Any]) -> None:
    available = {"type": "Available", "status": "True", "message": "All replicas are ready"}
    _there(found, "leaderworkerset-main")["status"] = {"conditions": [available], "replicas": 2, "updatedReplicas": 2}


def _other_templates(resource: str) -> Callable[[dict[str, Any]], None]:
    annotations = {"annotations": {MARK: "00000000"}}
    return lambda found: _there(found, resource)["spec"]["template"].update(metadata=annotations)


def _unseen(found: dict[str, Any]) -> None:
    for resource in ("leaders-main", "workers-0-main", "workers-1-main"):
        found[resource]["status"] = {"conditions": [given.synced("False", "external resource does not exist")]}


TABLE: dict[str, tuple[Callable[[dict[str, Any]], None], bool, int, str]] = {
    "all of it": (lambda _: None, True, 2, ""),
    "its sets were never seen": (_unseen, True, 2, ""),
    "a copy is missing": (_set("leaderworkerset-main", replicas=1), False, 2, "not updated yet"),
    "a copy is outdated": (_set("leaderworkerset-main", updatedReplicas=1), False, 2, "not updated yet"),
    "a copy is not ready": (_set("leaderworkerset-main", readyReplicas=1), False, 1, ""),
    "Available by its condition alone": (_available_only, False, 0, ""),
    "a worker is Pending while the set says ready": (
        _set("workers-1-main", readyReplicas=2),
        False,
        1,
        "workers of copy 1: 2 of 3 pods ready",
    ),
    "a leader is not ready while the set says so": (
        _set("leaders-main", readyReplicas=1),
        False,
        1,
        "leaders: 1 of 2 pods ready",
    ),
    "the leaders are still made from the last templates": (
        _other_templates("leaders-main"),
        False,
        2,
        "leaders: not updated yet",
    ),
    "workers are still made from the last templates": (
        _other_templates("workers-0-main"),
        False,
        2,
        "workers of copy 0: not updated yet",
    ),
    "the leaders' set has not seen its own spec": (
        _set("leaders-main", observedGeneration=0),
        False,
        2,
        "leaders: not updated yet",
    ),
}


@pytest.mark.parametrize(("change", "ready", "available", "words"), TABLE.values(), ids=TABLE)
def test_a_gang_is_complete_only_when_nothing_of_it_says_otherwise_and_serves_with_one_whole_copy(
    change: Callable[[dict[str, Any]], None], ready: bool, available: int, words: str
) -> None:
    found = seen()
    change(found)
    result = given.run(BODY, found)
    assert result.status is not None
    assert (result.status["complete"], result.ready) == (ready, available > 0)
    named = {"engine": "main", "kind": "LeaderWorkerSet", "name": NAME, "object": "x-leaderworkerset"}
    row = {**named, "ready": available, "desired": 2}
    assert result.status["workloads"] == [row | ({"message": words} if words else {})]


def test_what_is_only_looked_at_is_neither_awaited_nor_stale() -> None:
    found = seen()
    _unseen(found)
    accepted = given.condition(given.run(BODY, found), "ModelAccepted")
    assert (accepted.reason, accepted.message) == ("Accepted", sentences(*find_warnings(given.obj(BODY))))


@pytest.mark.parametrize(
    ("query", "full", "missing"),
    [
        (GANG_READY, {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2}, ["replicas", "readyReplicas"]),
        (STATEFUL_SET_READY, {"observedGeneration": 1, "readyReplicas": 2}, ["observedGeneration", "readyReplicas"]),
    ],
)
def test_the_queries_on_the_objects_count_too(query: str, full: dict[str, int], missing: list[str]) -> None:
    environment = celpy.Environment()
    program = environment.program(environment.compile(query))

    def says(status: dict[str, int] | None) -> bool:
        body = {"metadata": {"generation": 1}, "spec": {"replicas": 2}} | ({"status": status} if status else {})
        return bool(program.evaluate({"object": json_to_cel(body)}))

    assert says(full)
    assert not says(None)
    for field in missing:
        assert not says({**full, field: 0})
        assert not says({name: value for name, value in full.items() if name != field})


def test_the_claims_of_the_last_templates_stay_until_every_set_makes_pods_of_the_new_ones() -> None:
    two = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2}
    after = given.replica(given.gang(2, 3, deviceRequests=[two]))
    before = seen()
    old = {name for name in before if name.startswith("resourceclaimtemplate-")}
    edited = given.serving(after) | {name: before[name] for name in ("leaders-main", "workers-0-main", *old)}
    assert old <= given.run(after, edited).desired.keys()
    del edited["leaders-main"], edited["workers-0-main"]
    kept = given.run(after, edited).desired.keys()
    assert not (old - set(given.serving(after))) & kept


LARGEST = [given.gang(copies=64, nodes=63, name=f"e{number}") for number in range(8)]
OBSERVED_GANGS: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "two copies": ([given.gang(copies=2)], [2]),
    "as many copies as are observed": ([given.gang(copies=32)], [32]),
    "more copies": ([given.gang(copies=64)], [32]),
    "several engines share them": ([given.gang(copies=64, name="a"), given.gang(copies=4, name="b")], [16, 4]),
    "an engine without a gang takes none": ([given.gang(copies=64), given.engine("b", copies=64)], [32, 0]),
    "all that a spec may ask for": (LARGEST, [4] * 8),
}


@pytest.mark.parametrize(("engines", "observed"), OBSERVED_GANGS.values(), ids=OBSERVED_GANGS)
def test_the_workers_of_at_most_32_gangs_of_a_replica_are_observed(
    engines: list[dict[str, Any]], observed: list[int]
) -> None:
    names = given.run(given.replica(*engines)).desired
    found = [sum(name.startswith("workers-") and name.endswith(f"-{e['name']}") for name in names) for e in engines]
    assert found == observed


def test_the_largest_replica_makes_few_objects() -> None:
    edge = {"namespace", "service", "httproute"}
    assert len(given.run(given.replica(*LARGEST)).desired) == 8 * (1 + 1 + 1 + 4) + len(edge)


def test_a_gang_beyond_those_that_are_observed_counts_by_its_leader() -> None:
    body = given.replica(given.gang(copies=64))
    assert given.run(body, given.serving(body)).ready is True
    missing = given.serving(body)
    _there(missing, "leaderworkerset-main")["status"]["readyReplicas"] = 63
    found = given.run(body, missing)
    assert ((found.status or {})["complete"], found.ready) == (False, True)


@pytest.mark.parametrize(("copies", "beyond"), [(32, None), (34, ["32", "33"])])
def test_the_pods_of_gangs_beyond_those_are_not_observed(copies: int, beyond: list[str] | None) -> None:
    body = given.replica(given.gang(copies=copies))
    observed = given.serving(body)
    _there(observed, "leaderworkerset-main")["status"]["readyReplicas"] = 1
    selector = given.run(body, observed).desired["pods"].build()["spec"]["observeObjects"]["selector"]
    gangs = [each for each in selector["matchExpressions"] if each["key"] != "modelplane.ai/workload"]
    label = "leaderworkerset.sigs.k8s.io/group-index"
    assert gangs == ([{"key": label, "operator": "NotIn", "values": beyond}] if beyond else [])


@pytest.mark.parametrize(("resource", "takes_traffic"), [("leaderTemplate", True), ("workerTemplate", False)])
def test_only_a_gangs_leaders_take_traffic(resource: str, takes_traffic: bool) -> None:
    gang = given.manifest_of(given.run(BODY), "leaderworkerset-main")
    template = gang["spec"]["leaderWorkerTemplate"][resource]
    (engine,) = template["spec"]["containers"]
    assert ("modelplane.ai/serving" in template["metadata"]["labels"]) is takes_traffic
    assert ("readinessProbe" in engine) is takes_traffic
    assert ("ports" in engine) is takes_traffic


def test_a_leader_without_devices_may_share_a_node_with_its_workers() -> None:
    body = given.replica(given.gang(deviceRequests=None))
    templates = given.manifest_of(given.run(body), "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]
    leader, worker = templates["leaderTemplate"], templates["workerTemplate"]
    rules = worker["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (apart,) = (rule["labelSelector"]["matchLabels"] for rule in rules)
    assert apart.items() <= worker["metadata"]["labels"].items()
    assert not apart.items() <= leader["metadata"]["labels"].items()
    assert "requiredDuringSchedulingIgnoredDuringExecution" not in leader["spec"]["affinity"]["podAntiAffinity"]


@pytest.mark.proves("P127")
@pytest.mark.parametrize(("ready", "edited", "most"), [(2, True, 1), (1, True, 1), (0, True, 3), (0, False, 1)])
def test_an_edit_replaces_all_gangs_where_none_is_available_else_one_after_the_other(
    ready: int, edited: bool, most: int
) -> None:
    """A StatefulSet of Kubernetes 1.35 replaces no pod while as many as may be unavailable are."""
    observed = seen()
    for resource in ("leaderworkerset-main", "leaders-main"):
        _set(resource, readyReplicas=ready)(observed)
    served = given.run(BODY, seen()).status
    body = given.replica(given.gang(copies=2, nodes=4 if edited else 3), status=served)
    made = given.manifest_of(given.run(body, observed), "leaderworkerset-main")
    assert made["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] == {"maxSurge": 0, "maxUnavailable": most}
