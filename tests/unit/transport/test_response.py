"""A result as Crossplane reads it."""

import os
from datetime import timedelta
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as sdk

from modelplane.model.conditions import Condition, Status
from modelplane.step import Desired, Event, Requirement, Result, SchemaRequirement, Severity
from modelplane.step.sealed import Sealed
from modelplane.transport.response import OversizeError, write_response
from unit.transport.messages_by_sdk import plain, received, request_of, written


def _named(name: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": name}}


def test_desired_resources_are_added_to_those_of_the_earlier_steps() -> None:
    request = request_of(desired={"early": _named("one"), "both": _named("old")})
    request.desired.resources["early"].connection_details["k"] = b"v"
    result = Result(desired={"both": Desired.of(_named("new")), "late": Desired.of(_named("two"), ready=True)})
    assert plain(written(request, result))["desired"]["resources"] == {
        "early": {"resource": _named("one"), "ready": "READY_TRUE", "connection_details": {"k": "dg=="}},
        "both": {"resource": _named("new"), "ready": "READY_FALSE"},
        "late": {"resource": _named("two"), "ready": "READY_TRUE"},
    }


@pytest.mark.parametrize(
    ("earlier", "status", "seen"),
    [
        (None, {"a": {"b": 1}}, {"status": {"a": {"b": 1}}}),
        ({"status": {"a": {"x": 1}, "c": 2}}, {"a": {"b": 1}}, {"status": {"a": {"b": 1}, "c": 2}}),
        ({"status": {"c": 2}, "metadata": {"labels": {}}}, {}, {"status": {"c": 2}, "metadata": {"labels": {}}}),
        ({"status": {"c": 2}}, None, {"status": {"c": 2}}),
        (None, {}, {"status": {}}),
    ],
)
def test_status_is_laid_over_that_of_the_earlier_steps_by_top_level_field(earlier: Any, status: Any, seen: Any) -> None:
    response = written(request_of(desired_composite=earlier), Result(status=status))
    assert plain(response.desired.composite)["resource"] == seen


@pytest.mark.parametrize("value", [True, "1", None, [0.5], {"1": "1"}, 0.5, False], ids=repr)
def test_a_status_that_was_sent_before_is_sent_again_and_no_other_for_it(value: Any) -> None:
    statuses = [{"a": value}, {"a": 1}, {"a": value}, {"a": True}]
    sent = [plain(written(request_of(), Result(status=status)).desired.composite) for status in statuses]
    assert [repr(each["resource"]["status"]["a"]) for each in sent] == [repr(value), "1.0", repr(value), "True"]


def test_the_context_is_handed_on_with_what_the_step_adds() -> None:
    request = request_of(context={"theirs": {"managedFields": ["kept"]}, "both": "old"})
    response = written(request, Result(context={"both": "new", "mine": [1, None]}))
    assert plain(response.context) == {"theirs": {"managedFields": ["kept"]}, "both": "new", "mine": [1.0, None]}


@pytest.mark.parametrize(("ready", "seen"), [(None, 0), (True, 1), (False, 2)])
def test_a_step_may_decide_whether_the_composite_is_ready(ready: bool | None, seen: int) -> None:
    assert written(request_of(), Result(ready=ready)).desired.composite.ready == seen


def test_an_earlier_step_s_word_on_readiness_stands_when_this_one_has_none() -> None:
    request = request_of()
    request.desired.composite.ready = sdk.READY_FALSE
    assert written(request, Result()).desired.composite.ready == sdk.READY_FALSE


def test_requirements_name_one_object_or_select_by_labels() -> None:
    wanted = (
        Requirement("one", "v1", "Secret", match_name="a", namespace="n"),
        Requirement("cluster-wide", "x/v1", "Thing", match_name="b"),
        Requirement("some", "x/v1", "Thing", match_labels={"k": "v"}),
        Requirement("all", "x/v1", "Thing"),
    )
    result = Result(requirements=wanted, schemas=(SchemaRequirement("schema", "y/v1", "Other"),))
    assert plain(written(request_of(), result).requirements) == {
        "resources": {
            "one": {"api_version": "v1", "kind": "Secret", "match_name": "a", "namespace": "n"},
            "cluster-wide": {"api_version": "x/v1", "kind": "Thing", "match_name": "b"},
            "some": {"api_version": "x/v1", "kind": "Thing", "match_labels": {"labels": {"k": "v"}}},
            "all": {"api_version": "x/v1", "kind": "Thing", "match_labels": {}},
        },
        "schemas": {"schema": {"api_version": "y/v1", "kind": "Other"}},
    }


def test_the_tag_and_the_time_to_live_are_in_the_meta() -> None:
    assert plain(written(request_of(), Result(ttl=timedelta(seconds=10))).meta) == {"tag": "tag", "ttl": "10s"}


def test_conditions_and_events_are_about_the_composite_and_fatal_comes_last() -> None:
    result = Result(
        conditions=(Condition("A", Status.TRUE, "Fine"), Condition("B", Status.UNKNOWN, "Unclear", "why")),
        events=(Event(Severity.WARNING, "careful"), Event(Severity.NORMAL, "done")),
        fatal="stop",
    )
    response = plain(written(request_of(), result))
    about = {"target": "TARGET_COMPOSITE"}
    assert response["conditions"] == [
        {"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "Fine", "message": "", **about},
        {"type": "B", "status": "STATUS_CONDITION_UNKNOWN", "reason": "Unclear", "message": "why", **about},
    ]
    assert response["results"] == [
        {"severity": "SEVERITY_WARNING", "message": "careful", **about},
        {"severity": "SEVERITY_NORMAL", "message": "done", **about},
        {"severity": "SEVERITY_FATAL", "message": "stop", **about},
    ]


def test_a_fatal_result_keeps_the_desired_state_as_the_earlier_steps_left_it() -> None:
    request = request_of(desired={"early": _named("one")}, desired_composite={"status": {"a": 1}})
    result = Result(desired={"late": Desired.of(_named("two"))}, status={"a": 2}, ready=True, fatal="stop")
    assert written(request, result).desired == request.desired


def test_equal_input_gives_equal_bytes_whatever_the_order() -> None:
    names = [f"r{number}" for number in range(50)]
    desired = {name: _named(name) for name in names}
    turned = {name: _named(name) for name in reversed(names)}
    labels = dict.fromkeys(names, "v")
    one = Result(
        desired={n: Desired.of(m) for n, m in desired.items()},
        status=labels,
        requirements=(Requirement("r", "v1", "K", match_labels=labels),),
    )
    other = Result(
        desired={n: Desired.of(m) for n, m in turned.items()},
        status=dict(reversed(labels.items())),
        requirements=(Requirement("r", "v1", "K", match_labels=dict(reversed(labels.items()))),),
    )
    request = request_of(desired={"x": _named("x"), "y": _named("y")})
    turned_request = request_of(desired={"y": _named("y"), "x": _named("x")})
    assert write_response(received(request), one) == write_response(received(turned_request), other)


def test_a_manifest_whose_key_was_seen_is_not_built_again() -> None:
    built: list[int] = []

    def build() -> dict[str, Any]:
        built.append(1)
        return _named("a")

    key = ("test", os.urandom(8))
    result = Result(desired={"a": Desired(build, key=key), "b": Desired(build, key=key)})
    seen = [plain(written(request_of(), result))["desired"]["resources"]["b"]["resource"] for _ in range(2)]
    assert (seen, len(built)) == ([_named("a"), _named("a")], 1)


def test_a_sealed_value_is_opened_in_the_data_of_a_composed_secret() -> None:
    secret = {"kind": "Secret", "data": {"header": Sealed(b"hush").prefixed(b"Bearer ")}}
    response = written(request_of(), Result(desired={"a": Desired.of(secret)}))
    assert plain(response)["desired"]["resources"]["a"]["resource"]["data"] == {"header": "QmVhcmVyIGh1c2g="}


@pytest.mark.parametrize(
    "result",
    [
        Result(status={"token": Sealed(b"hush")}),
        Result(context={"token": Sealed(b"hush")}),
        Result(desired={"a": Desired.of({"kind": "ConfigMap", "data": {"token": Sealed(b"hush")}})}),
    ],
)
def test_a_sealed_value_anywhere_else_is_refused(result: Result) -> None:
    with pytest.raises(ValueError, match="Unexpected type"):
        write_response(received(request_of()), result)


def test_a_response_that_crossplane_would_not_take_says_what_is_in_it() -> None:
    big = {"kind": "ModelReplica", "text": "x" * 1024 * 1024}
    request = request_of(desired={"early": {"kind": "ModelEndpoint", "text": "x" * 512 * 1024}})
    result = Result(desired={name: Desired.of(big) for name in "abc"}, status={"text": "x" * 102 * 1024})
    with pytest.raises(OversizeError) as refused:
        write_response(received(request), result)
    text = str(refused.value)
    assert "too large, at most 3.5 MiB can be sent: 3 ModelReplica of 3.0 MiB, 1 ModelEndpoint of 0.5 MiB, " in text
    assert "status of 0.1 MiB, context of 0.0 MiB, requirements of 0.0 MiB;" in text


def test_nothing_more_is_built_once_a_response_is_too_large() -> None:
    built: list[int] = []

    def build() -> dict[str, Any]:
        built.append(1)
        return {"kind": "ModelReplica", "text": "x" * 1024 * 1024}

    result = Result(desired={f"r{number}": Desired(build) for number in range(1000)})
    with pytest.raises(OversizeError, match=r"4 ModelReplica of 4.0 MiB, .*996 further resources"):
        write_response(received(request_of()), result)
    assert len(built) == 4


def test_a_response_just_under_the_limit_is_sent() -> None:
    result = Result(desired={"a": Desired.of({"kind": "A", "text": "x" * (3_670_016 - 300)})})
    assert len(write_response(received(request_of()), result)) <= 3_670_016


def test_a_fatal_answer_is_sent_even_where_the_earlier_steps_desire_too_much() -> None:
    request = request_of(desired={"early": {"kind": "A", "text": "x" * 3_700_000}})
    response = written(request, Result(fatal="stop"))
    assert [result.message for result in response.results] == ["stop"]
    assert not response.HasField("desired")
