"""Every request is answered: what cannot be, fatally, with the conditions as they were and a line in the log."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as sdk
from google.protobuf.message import DecodeError
from structlog.testing import capture_logs

from modelplane.model.conditions import Condition, Status
from modelplane.scheduling.search_budget import CALL_STATES, PostponedError, current
from modelplane.step import RESPONSE_LIMIT, Desired, Event, Request, Requirement, Result, Severity, Step
from modelplane.transport import exchange
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.messages import Request as RequestMessage
from unit.transport.messages_by_sdk import request_of

_CLASS = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "InferenceClass",
    "metadata": {"name": "h100"},
    "status": {"conditions": [{"type": "Accepted", "status": "True", "reason": "Available", "message": "as it was"}]},
}
_NO_STRUCT = b"\x0a\xff"


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


def _answered(step: Step, wire: bytes | None = None, waited: float = 0.0) -> tuple[Any, list[Any]]:
    """Return the response and what was logged."""
    wire = request_of(_CLASS).SerializeToString() if wire is None else wire
    with capture_logs() as logs:
        response = answer(step, Received(wire), waited)
    assert len(response) <= RESPONSE_LIMIT
    return sdk.RunFunctionResponse.FromString(response), logs


def _fatal(response: Any) -> str:
    assert response.results[-1].severity == sdk.SEVERITY_FATAL
    return str(response.results[-1].message)


def _conditions(response: Any) -> list[tuple[str, str, str]]:
    return [(one.type, one.reason, one.message) for one in response.conditions]


def _raise(_request: Request) -> Result:
    raise RuntimeError("not thought of")


def _of(result: Result) -> Step:
    return lambda _request: result


_MANY = tuple(Requirement(f"pull-secret-{number}", "v1", "Secret", "x" * 200) for number in range(30_000))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (_raise, "RuntimeError: not thought of"),
        (_of(Result(requirements=_MANY)), "requirements of 6.9 MiB"),
        (_of(Result(requirements=_MANY, fatal="stop")), "requirements of 6.9 MiB"),
        (_of(Result(events=(Event(Severity.NORMAL, "x" * 900),) * 5000)), "the response is too large"),
        (_of(Result(status={"text": "x" * RESPONSE_LIMIT})), "status of 3.5 MiB"),
        (_of(Result(context={"text": "x" * RESPONSE_LIMIT})), "context of 3.5 MiB"),
        (_of(Result(desired={"a": Desired(lambda: 1 // 0)})), "ZeroDivisionError"),  # type: ignore[arg-type, return-value]
        (_of(Result(desired={"a": Desired.of({"a": object()})})), "ValueError: Unexpected type"),
        (_of(Result(ttl=7)), "AttributeError"),  # type: ignore[arg-type]
        (_of(Result(conditions=(Condition("A", Status.TRUE, "Why", 7),))), "TypeError"),  # type: ignore[arg-type]
        (_of(None), "AttributeError"),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_step_returns_or_raises_is_answered_with_the_conditions_as_they_were(step: Step, words: str) -> None:
    response, logs = _answered(step)
    assert words in _fatal(response)
    assert _conditions(response) == [("Accepted", "Available", "as it was")]
    (line,) = [each for each in logs if each["event"] == "refused"]
    assert (line["kind"], line["name"]) == ("InferenceClass", "h100")
    assert words in line["fatal"]


def _garbled(part: str) -> bytes:
    message = RequestMessage.FromString(request_of(_CLASS, observed={"a": {"kind": "A"}}).SerializeToString())
    match part:
        case "context":
            message.context = _NO_STRUCT
        case "schema":
            message.required_schemas["s"].openapi_v3 = _NO_STRUCT
        case "observed":
            message.observed.resources["a"].resource = _NO_STRUCT
        case "required":
            message.required_resources["r"].items.add().resource = _NO_STRUCT
    wire: bytes = message.SerializeToString()
    return wire


def _look(request: Request) -> Result:
    found = [*request.observed.values(), *(each for answers in request.required.values() for each in answers)]
    return Result(status={"names": [each.name for each in found]})


@pytest.mark.parametrize("part", ["context", "schema", "observed", "required"])
def test_a_part_that_is_not_what_it_has_to_be_is_fatal_and_the_composite_keeps_its_conditions(part: str) -> None:
    response, logs = _answered(_look, _garbled(part))
    assert "InferenceClass h100: a defect" in _fatal(response)
    assert "DecodeError" in _fatal(response)
    assert _conditions(response) == [("Accepted", "Available", "as it was")]
    assert [(each["composite"], each["log_level"]) for each in logs if "composite" in each] == [
        ("InferenceClass h100", "error")
    ]


def test_what_a_step_decided_is_logged_at_debug_level_alone() -> None:
    _, logs = _answered(_of(Result(details=lambda: {"replicas": {"a/0": "held"}})))
    (decided,) = (each for each in logs if each["event"] == "decided")
    assert (decided["log_level"], decided["replicas"]) == ("debug", {"a/0": "held"})


def test_a_composite_that_cannot_be_read_is_fatal_too() -> None:
    message = RequestMessage()
    message.observed.composite.resource = _NO_STRUCT
    response, logs = _answered(_look, message.SerializeToString())
    assert "DecodeError" in _fatal(response)
    assert [each["event"] for each in logs] == ["the step failed", "conditions set", "refused"]


def test_only_bytes_that_are_no_request_raise() -> None:
    with pytest.raises(DecodeError):
        answer(_look, Received(b"\xff\xff"))


def test_a_call_that_waited_for_longer_than_crossplane_has_is_refused_unread_with_the_conditions_as_they_were() -> None:
    response, logs = _answered(_raise, waited=exchange.PATIENCE + 1)
    assert "InferenceClass h100: not processed: the call was queued for 91 s" in _fatal(response)
    assert _conditions(response) == [("Accepted", "Available", "as it was")]
    assert [each["waited_milliseconds"] for each in logs if each["event"] == "refused"] == [91_000.0]


def test_a_call_that_waited_for_less_is_answered() -> None:
    response, _ = _answered(_of(Result(status={"a": 1})), waited=exchange.PATIENCE)
    assert list(response.results) == []


def test_a_call_has_an_allowance_of_its_own_and_a_long_one_asks_for_the_turn_of_its_namespace() -> None:
    asked: list[str] = []

    def long(_request: Request) -> Result:
        allowance = current()
        assert allowance.left == CALL_STATES
        stop = allowance.go_on(allowance.next_stop + 1)
        assert stop == CALL_STATES
        with pytest.raises(PostponedError):
            allowance.go_on(stop + 1)
        allowance.spend(stop)
        return Result()

    def turn(namespace: str) -> bool:
        asked.append(namespace)
        return True

    wire = request_of({**_CLASS, "metadata": {"name": "h100", "namespace": "team"}}).SerializeToString()
    for _ in range(2):
        with capture_logs():
            response = sdk.RunFunctionResponse.FromString(answer(long, Received(wire), 0.0, turn))
        assert list(response.results) == []
    assert asked == ["team", "team"]
