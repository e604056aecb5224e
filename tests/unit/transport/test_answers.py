"""An equal request is answered with the response that was sent before; any other request is computed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import pytest
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as sdk
from structlog.testing import capture_logs

from bench.fleet import from_server
from modelplane.lru import Lru
from modelplane.step import Desired, Event, Request, Requirement, Result, Severity, Step
from modelplane.transport import answers
from modelplane.transport.admission import Received
from modelplane.transport.exchange import PATIENCE, answer
from modelplane.transport.messages import Request as RequestMessage
from modelplane.transport.structs import encode
from unit.transport.messages_by_sdk import CACHE, plain, read, request_of
from unit.transport.orders import encode_in_any_order

Manifest = Mapping[str, Any]


def stored(name: str, version: int = 1, **content: Any) -> Manifest:
    """Return a ConfigMap as an API server stores it."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": content}
    return from_server(manifest, f"uid-{name}", version)


COMPOSITE = from_server(CACHE, "uid-qwen", 1)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(answers, "_ANSWERS", Lru[Any](answers._LIMIT, admit=answers._ADMIT))
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


class Counted:
    """A step that counts its calls, and desires one object that holds their number."""

    def __init__(self, **result: Any) -> None:
        self.calls = 0
        self._result: dict[str, Any] = {"cacheable": True, "context": {"own": "x"}, "status": {"a": 1}, **result}

    def __call__(self, _request: Request) -> Result:
        self.calls += 1
        made = Desired.of({"apiVersion": "v1", "kind": "ConfigMap", "data": {"call": str(self.calls)}})
        return Result(desired={"made": made}, events=(Event(Severity.NORMAL, "done"),), **self._result)


def sent(**parts: Any) -> sdk.RunFunctionRequest:
    parts = {"composite": COMPOSITE, "observed": {"a": stored("a"), "b": stored("b")}} | parts
    return request_of(parts.pop("composite"), **{"required": {"c": [stored("c")], "none": []}, **parts})


def answered(step: Step, request: sdk.RunFunctionRequest | bytes) -> bytes:
    wire = request if isinstance(request, bytes) else request.SerializeToString()
    with capture_logs():
        return answer(step, Received(wire))


def test_an_equal_request_is_answered_with_the_same_bytes_without_a_call_of_the_step() -> None:
    step = Counted()
    assert answered(step, sent()) == answered(step, sent())
    assert step.calls == 1


def test_the_log_says_of_a_repeated_response_what_it_said_of_the_first_and_that_it_was_cached() -> None:
    step, wire = Counted(), sent().SerializeToString()
    with capture_logs() as logs:
        for _ in range(2):
            answer(step, Received(wire))
    said = [line for line in logs if line["event"] == "answered"]
    first, second = ({name: value for name, value in line.items() if name != "milliseconds"} for line in said)
    assert (first["event"], first["name"], first["desired"], first["cached"]) == ("answered", "qwen", 1, False)
    assert second == first | {"cached": True}


def _with(change: Callable[[sdk.RunFunctionRequest], Any]) -> sdk.RunFunctionRequest:
    request = sent()
    change(request)
    return request


#: Requests that differ from `sent()`, by the field of `Request` in which a step sees the difference.
OTHERS: Mapping[str, Mapping[str, sdk.RunFunctionRequest]] = {
    "composite": {
        "another version": sent(composite=from_server(CACHE, "uid-qwen", 2)),
        "the same name made anew": sent(composite=from_server(CACHE, "uid-new", 1)),
    },
    "observed": {
        "another version": sent(observed={"a": stored("a", 2), "b": stored("b")}),
        "one more": sent(observed={"a": stored("a"), "b": stored("b"), "d": stored("d")}),
        "one less": sent(observed={"a": stored("a")}),
        "exchanged": sent(observed={"a": stored("b"), "b": stored("a")}),
    },
    "required": {
        "another version": sent(required={"c": [stored("c", 2)], "none": []}),
        "gone": sent(required={"c": [], "none": []}),
        "there": sent(required={"c": [stored("c")], "none": [stored("d")]}),
        "under another name": sent(required={"c": [], "none": [stored("c")]}),
        "not fetched": sent(required={"c": [stored("c")]}),
    },
    "schemas": {
        "known": _with(lambda each: each.required_schemas["kind"].openapi_v3.update({"type": "object"})),
        "unknown": _with(lambda each: each.required_schemas["kind"].SetInParent()),
    },
    "context": {"an entry": sent(context={"key": "text"}), "another": sent(context={"key": {"a": [1]}})},
    "desired_names": {"of an earlier step": sent(desired={"earlier": stored("e")})},
    "version": {"of the Configuration": _with(lambda each: each.input.update({"version": "9.9.9"}))},
}
_ALL = {f"{field}: {name}": each for field, rows in OTHERS.items() for name, each in rows.items()}


def test_there_is_another_request_for_every_field_that_a_step_sees() -> None:
    assert OTHERS.keys() == {each.name for each in fields(Request)}


@pytest.mark.parametrize("other", _ALL.values(), ids=_ALL)
def test_a_request_that_differs_in_anything_is_computed_and_does_not_change_the_answer_to_the_first(
    other: sdk.RunFunctionRequest,
) -> None:
    step = Counted()
    first = answered(step, sent())
    assert answered(step, other) != first
    assert step.calls == 2
    again = answered(step, sent())
    assert (step.calls == 2) == (again == first)


def test_of_any_two_of_these_requests_the_digests_differ() -> None:
    requests = [sent(), *_ALL.values()]
    assert len({answers.digest_inputs(read(each)) for each in requests}) == len(requests)


def test_the_order_in_which_maps_are_written_makes_no_other_request() -> None:
    step = Counted()
    for seed in range(10):
        message = RequestMessage.FromString(sent().SerializeToString())
        message.observed.composite.resource = encode_in_any_order(COMPOSITE, seed)
        message.observed.resources["a"].resource = encode_in_any_order(stored("a"), seed)
        message.required_resources["c"].items[0].resource = encode_in_any_order(stored("c"), seed)
        answered(step, message.SerializeToString())
    assert step.calls == 1


def test_a_repeated_response_has_the_tag_and_the_context_of_its_own_request() -> None:
    step, requests = Counted(), []
    for tag, order in (("one", 1), ("two", 2), ("three", 3)):
        message = RequestMessage.FromString(sent().SerializeToString())
        message.meta.tag, message.context = tag, encode_in_any_order({"a": "x", "b": "y", "c": "z"}, order)
        requests.append(message.SerializeToString())
    responses = [answered(step, each) for each in requests]
    assert step.calls == 1
    assert responses == [answered(Counted(), each) for each in requests]
    parsed = [plain(sdk.RunFunctionResponse.FromString(each)) for each in responses]
    assert [each["meta"]["tag"] for each in parsed] == ["one", "two", "three"]
    assert parsed[1]["context"] == {"a": "x", "b": "y", "c": "z", "own": "x"}


@pytest.mark.parametrize("result", [{"cacheable": False}, {"fatal": "stop"}])
def test_a_result_that_is_fatal_or_follows_from_more_than_the_request_is_computed_each_time(
    result: dict[str, Any],
) -> None:
    step = Counted(**result)
    for _ in range(3):
        answered(step, sent())
    assert step.calls == 3


def test_a_composite_that_no_api_server_has_stored_is_computed_each_time() -> None:
    step = Counted()
    for _ in range(2):
        answered(step, sent(composite=CACHE))
    assert step.calls == 2


def test_an_object_without_a_version_is_known_by_its_content() -> None:
    step = Counted()
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}}
    for data in ("one", "one", "two"):
        message = RequestMessage.FromString(sent().SerializeToString())
        message.observed.resources["a"].resource = encode({**manifest, "data": {"key": data}})
        answered(step, message.SerializeToString())
    assert step.calls == 2


def test_two_functions_have_answers_of_their_own() -> None:
    one, two = Counted(), Counted(status={"a": 2})
    assert answered(one, sent()) != answered(two, sent())
    assert answered(one, sent()) != answered(two, sent())
    assert (one.calls, two.calls) == (1, 1)


def test_what_is_kept_of_a_composite_does_not_grow_with_its_versions() -> None:
    step = Counted()
    for version in range(50):
        answered(step, sent(composite=from_server(CACHE, "uid-qwen", version)))
    assert len(answers._ANSWERS._kept) == 1


def test_what_is_kept_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_ANSWERS", Lru[Any](10_000, admit=answers._ADMIT))
    step = Counted()
    for number in range(50):
        answered(step, sent(composite=from_server(CACHE, f"uid-{number}", 1)))
    assert 2 <= len(answers._ANSWERS._kept) <= 10_000 // 512


def test_each_call_of_a_pass_has_an_answer() -> None:
    step = Counted(requirements=(Requirement("c", "v1", "ConfigMap", "c"),))
    for _ in range(3):
        answered(step, sent(required={}))
        answered(step, sent(required={"c": [stored("c")]}))
    assert step.calls == 2


def test_an_object_that_cannot_be_read_does_not_hinder_a_step_that_does_not_read_it() -> None:
    step = Counted()
    message = RequestMessage.FromString(sent().SerializeToString())
    message.observed.resources["a"].resource = b"\x0a\xff"
    responses = {answered(step, message.SerializeToString()) for _ in range(2)}
    assert (step.calls, len(responses)) == (2, 2)


def test_a_call_that_has_waited_for_too_long_is_refused_although_its_answer_is_known() -> None:
    step, wire = Counted(), sent().SerializeToString()
    with capture_logs():
        answer(step, Received(wire))
        late = answer(step, Received(wire), PATIENCE + 1)
    assert sdk.RunFunctionResponse.FromString(late).results[-1].severity == sdk.SEVERITY_FATAL
