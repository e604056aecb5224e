"""Between a Service and a picker the routes turn once the other answers, and the one goes once they have turned."""

import json
from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_replica import replicas as given

PICKED = {"modelplane.ai/endpoint-picker": "true"}
ROUTES = ("httproute", "httproute-path")


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
    rules = [given.manifest_of(result, route)["spec"]["rules"][0] for route in ROUTES]
    return {rule["backendRefs"][0].get("kind", "Service") for rule in rules}


def edge(result: Result) -> set[str]:
    return {name for name in result.desired if name == "service" or name.startswith(("picker", "inferencepool"))}


@pytest.mark.parametrize(("before", "after", "old", "new", "last"), EDGES.values(), ids=EDGES)
def test_requests_are_answered_all_the_way_from_one_edge_to_the_other(
    before: dict[str, Any], after: dict[str, Any], old: str, new: str, last: str
) -> None:
    was, will_be = given.serving(before), given.serving(after)
    there = dict(was)
    started = given.run(after, there)
    assert edge(started) == edge(given.run(before)) | edge(given.run(after))
    assert leads_to(started) == {old}
    assert started.ready is True

    there |= {name: found for name, found in will_be.items() if name not in {*ROUTES, last}}
    waits = given.run(after, there)
    assert leads_to(waits) == {old}, "the last of the new edge does not answer yet"
    assert waits.ready is True

    there[last] = will_be[last]
    answers = given.run(after, there)
    assert leads_to(answers) == {new}
    assert answers.ready is True
    assert edge(answers) == edge(started)

    there["httproute"] = will_be["httproute"]
    assert edge(given.run(after, there)) == edge(started), "one route has not turned yet"

    there["httproute-path"] = will_be["httproute-path"]
    assert edge(given.run(after, there)) == edge(given.run(after))


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
