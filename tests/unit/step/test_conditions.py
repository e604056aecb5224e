"""Every response carries every condition of its kind."""

from dataclasses import replace
from typing import Any

import pytest

from modelplane.model.conditions import CONDITIONS, Condition, Reason, Status, cap
from modelplane.step import Event, Object, Request, Requirement, Result, Severity
from modelplane.step.completion import complete

#: The published table of conditions: what other components and users rely on.
PUBLISHED = {
    "ModelDeployment": [
        "ReplicasScheduled",
        "ReplicasReady",
        "RolloutProgressing",
        "PlacementDrifted",
        "ModelCacheResolved",
        "ModelResolved",
    ],
    "ModelReplica": ["ModelAccepted", "ModelReady"],
    "ModelEndpoint": ["RoutingReady"],
    "ModelService": ["EndpointsResolved", "RoutingReady"],
    "ModelCache": ["ClustersMatched", "ArtifactReady"],
    "ClusterModel": ["Accepted"],
    "InferenceClass": ["Accepted"],
    "InferenceCluster": ["ClusterReady", "BackendReady"],
    "ManagedCluster": ["CloudReady"],
    "ServingStack": ["PartsReady"],
    "InferenceGateway": ["ControllerReady"],
}
UNDETERMINED = ("Unknown", "Undetermined", "No pass over the object has come to a result yet.")


def _request(kind: str, conditions: Any = None, context: dict[str, Any] | None = None) -> Request:
    body = {"kind": kind, "metadata": {"name": "a"}, "status": {"conditions": conditions}}
    return Request(composite=Object(body, kind), context=context or {})


def _row(kind: str, status: str, reason: str, message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "x"}


def _said(result: Result) -> dict[str, tuple[str, str, str]]:
    assert len({one.type for one in result.conditions}) == len(result.conditions)
    return {one.type: (one.status.value, str(one.reason), one.message) for one in result.conditions}


def test_the_table_names_the_published_conditions() -> None:
    assert {kind: [str(one) for one in types] for kind, types in CONDITIONS.items()} == PUBLISHED


def test_every_reason_has_one_sentence_and_belongs_to_a_condition() -> None:
    every = [reasons for types in CONDITIONS.values() for reasons in types.values()]
    used = {reason for of in every for reason in (*of.true, *of.false, *of.unknown)}
    assert set(Reason) - used == {Reason.UNDETERMINED, Reason.SKEW}
    for reason in Reason:
        assert reason.meaning.endswith(".")
        assert reason.value.isalnum()


@pytest.mark.parametrize("kind", PUBLISHED)
def test_a_new_object_s_conditions_are_unknown_until_a_step_says_more(kind: str) -> None:
    assert _said(complete(_request(kind), Result())) == dict.fromkeys(PUBLISHED[kind], UNDETERMINED)


def test_what_the_step_does_not_say_stays_as_observed() -> None:
    observed = [_row("ModelReady", "True", "Serving", "all of it"), _row("ModelAccepted", "True", "Accepted")]
    result = Result(conditions=(Condition("ModelAccepted", Status.FALSE, "Deploying", "now"),))
    assert _said(complete(_request("ModelReplica", observed), result)) == {
        "ModelAccepted": ("False", "Deploying", "now"),
        "ModelReady": ("True", "Serving", "all of it"),
    }


@pytest.mark.parametrize(
    "observed", [None, "text", [None, "x"], [{"type": "Accepted"}], [{"type": "Accepted", "status": 1}]]
)
def test_malformed_observed_conditions_read_as_unknown(observed: Any) -> None:
    assert _said(complete(_request("InferenceClass", observed), Result()))["Accepted"][:2] == (
        "Unknown",
        "Undetermined",
    )


def test_crossplane_s_own_conditions_are_not_repeated() -> None:
    observed = [_row("Ready", "True", "Available"), _row("Synced", "True", "ReconcileSuccess")]
    assert list(_said(complete(_request("InferenceClass", observed), Result()))) == ["Accepted"]


def test_a_fatal_result_carries_all_conditions_too() -> None:
    observed = [_row("Accepted", "True", "Available", "")]
    assert _said(complete(_request("InferenceClass", observed), Result(fatal="stop"))) == {
        "Accepted": ("True", "Available", "")
    }


def test_a_later_step_repeats_what_an_earlier_one_of_the_pass_said_not_what_was_observed() -> None:
    observed = [
        _row("ReplicasScheduled", "True", "ReplicasScheduled"),
        _row("ReplicasReady", "True", "AllReplicasReady"),
    ]
    decided = Result(conditions=(Condition("ReplicasScheduled", Status.FALSE, "NoClusters", "none"),))
    first = complete(_request("ModelDeployment", observed), decided)
    second = complete(_request("ModelDeployment", observed, dict(first.context)), Result())
    own = Result(conditions=(Condition("ReplicasReady", Status.FALSE, "Degraded", "own word"),))
    third = complete(_request("ModelDeployment", observed, {**first.context, **second.context}), own)
    assert _said(third) == {
        "ReplicasScheduled": ("False", "NoClusters", "none"),
        "ReplicasReady": ("False", "Degraded", "own word"),
        **dict.fromkeys(PUBLISHED["ModelDeployment"][2:], UNDETERMINED),
    }


@pytest.mark.parametrize("garbled", ["{", "[1]", '[["A","maybe","r","m"]]', 7, None])
def test_a_garbled_context_entry_counts_as_nothing_said(garbled: Any) -> None:
    request = _request("ModelDeployment", None, {"modelplane.ai/conditions": garbled})
    assert set(_said(complete(request, Result())).values()) == {UNDETERMINED}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_a_second_step_on_any_kind_repeats_what_the_first_one_said(kind: str) -> None:
    decided = Result(conditions=(Condition(PUBLISHED[kind][0], Status.FALSE, "Because", "why"),))
    first = complete(_request(kind), decided)
    second = complete(_request(kind, context=dict(first.context)), Result())
    assert _said(second)[PUBLISHED[kind][0]] == ("False", "Because", "why")


def test_what_a_step_says_before_all_that_it_requires_is_fetched_is_not_carried_into_its_own_next_round() -> None:
    asked = Requirement("later", "v1", "ConfigMap", match_name="x")
    decided = Result(conditions=(Condition("Accepted", Status.FALSE, "TooEarly"),), requirements=(asked,))
    assert complete(_request("InferenceClass"), decided).context == {}
    fetched = replace(_request("InferenceClass"), required={"later": ()})
    assert list(complete(fetched, decided).context) == ["modelplane.ai/conditions"]


def test_a_step_that_says_nothing_carries_nothing() -> None:
    assert complete(_request("InferenceClass"), Result(context={"k": "v"})).context == {"k": "v"}


@pytest.mark.parametrize(("length", "kept"), [(0, 0), (1000, 1000), (1001, 1000), (50_000, 1000)])
def test_messages_are_capped_at_a_thousand_characters(length: int, kept: int) -> None:
    text = "x" * length
    result = Result(
        conditions=(Condition("Accepted", Status.TRUE, "Available", text),),
        events=(Event(Severity.NORMAL, text),),
        fatal=text,
    )
    full = complete(_request("InferenceClass"), result)
    assert [len(full.conditions[0].message), len(full.events[0].message), len(full.fatal or "")] == [kept] * 3


def test_a_message_that_was_cut_says_so() -> None:
    assert cap("word " * 300).endswith("word w ...")
