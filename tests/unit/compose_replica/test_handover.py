"""Between a Service and a picker the routes turn once the other answers, and the one goes once they have turned."""

import copy
import json
from collections.abc import Iterable
from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_replica import replicas as given

PICKED = {"modelplane.ai/endpoint-picker": "true"}


def body(**annotations: str) -> dict[str, Any]:
    found = given.replica(given.engine(copies=2))
    found["metadata"]["annotations"] = annotations
    return found


BEHIND_SERVICE, BEHIND_PICKER = body(), body(**PICKED)
EDGES = {
    "to a picker": (BEHIND_SERVICE, BEHIND_PICKER, "Service", "InferencePool", "picker"),
    "to a Service": (BEHIND_PICKER, BEHIND_SERVICE, "InferencePool", "Service", "service"),
}


def leads_to(result: Result) -> set[str]:
    (rule,) = given.manifest_of(result, "httproute")["spec"]["rules"]
    return {backend.get("kind", "Service") for backend in rule["backendRefs"]}


def edge(resources: Iterable[str]) -> set[str]:
    return {name for name in resources if name == "service" or name.startswith(("picker", "inferencepool"))}


@pytest.mark.parametrize(("before", "after", "old", "new", "last"), EDGES.values(), ids=EDGES)
def test_requests_are_answered_all_the_way_from_one_edge_to_the_other(
    before: dict[str, Any], after: dict[str, Any], old: str, new: str, last: str
) -> None:
    was, will_be = given.serving(before), given.serving(after)
    there = dict(was)
    started = given.run(after, there)
    assert edge(started.desired) == edge(was) | edge(will_be)
    assert leads_to(started) == {old}
    assert started.ready is True

    there |= {name: found for name, found in will_be.items() if name not in {"httproute", last}}
    waits = given.run(after, there)
    assert leads_to(waits) == {old}, "the last of the new edge does not answer yet"
    assert waits.ready is True

    there[last] = will_be[last]
    answers = given.run(after, there)
    assert leads_to(answers) == {new}
    assert answers.ready is True
    assert edge(answers.desired) == edge(started.desired)

    there["httproute"] = will_be["httproute"]
    assert edge(given.run(after, there).desired) == edge(will_be)


def test_only_the_word_true_asks_for_a_picker() -> None:
    for word in ("false", "", "True", "yes"):
        assert "picker" not in given.run(body(**{"modelplane.ai/endpoint-picker": word})).desired


def test_alike_copies_have_one_profile_that_prefers_a_cached_prefix() -> None:
    (text,) = given.manifest_of(given.run(BEHIND_PICKER), "picker-configmap")["data"].values()
    config = json.loads(text)
    assert {"type": "single-profile-handler"} in config["plugins"]
    assert config["schedulingProfiles"] == [
        {
            "name": "default",
            "plugins": [
                {"pluginRef": "prefix-cache-scorer", "weight": 2},
                {"pluginRef": "queue-scorer", "weight": 1},
                {"pluginRef": "max-score-picker"},
            ],
        }
    ]


def by_path(body: dict[str, Any]) -> dict[str, Any]:
    """Return the Objects of a replica of version 0.1, whose engines were reached by a path on any host too."""
    there = given.serving(body)
    route, pool = copy.deepcopy(there["httproute"]), copy.deepcopy(there.get("inferencepool"))
    for made, name in ((route, "edge-path"), (pool, "edge-path")):
        for found in (made["spec"]["forProvider"], made["status"]["atProvider"]) if made else ():
            found["manifest"]["metadata"]["name"] = name
    return {**there, "httproute-path": route} | ({"inferencepool-path": pool} if pool else {})


@pytest.mark.parametrize("body", [BEHIND_SERVICE, BEHIND_PICKER], ids=["Service", "picker"])
def test_what_an_earlier_version_reached_by_a_path_goes_the_route_first_while_the_replica_serves(
    body: dict[str, Any],
) -> None:
    serving, before = given.serving(body), by_path(body)
    first = given.run(body, before)
    assert first.ready is True
    assert set(first.desired) == set(before) - {"httproute-path"}
    assert given.manifest_of(first, "httproute") == given.manifest_of(given.run(body, serving), "httproute")

    del before["httproute-path"]
    assert set(given.run(body, before).desired) == set(serving)


def test_a_held_replica_serves_though_its_earlier_route_by_a_path_is_not_applied() -> None:
    before = by_path(BEHIND_PICKER)
    for earlier in ("httproute-path", "inferencepool-path"):
        before[earlier]["status"]["conditions"] = []
    held = given.run(BEHIND_PICKER, before, cluster=None)
    assert held.ready is True
    assert set(held.desired) == set(before)
