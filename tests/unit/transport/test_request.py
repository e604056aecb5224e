"""A request as a step sees it."""

from crossplane.function.proto.v1 import run_function_pb2 as sdk

from modelplane.model.observation import Gap
from modelplane.step import Requirement
from unit.transport.messages_by_sdk import CACHE, read, request_of


def _named(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_all_parts_of_a_request_reach_the_step() -> None:
    request = read(
        request_of(
            observed={"b": _named("two"), "a": _named("one")},
            desired={"c": _named("three")},
            required={"some": [_named("x"), _named("y")]},
            context={"key": "text", "number": 3},
        )
    )
    assert request.composite.body == CACHE
    assert {name: found.name for name, found in request.observed.items()} == {"a": "one", "b": "two"}
    assert list(request.observed) == ["a", "b"]
    assert request.desired_names == frozenset({"c"})
    assert [found.name for found in request.required["some"]] == ["x", "y"]
    assert request.context == {"key": "text", "number": 3}


def test_a_required_object_is_not_fetched_yet_or_absent_or_present() -> None:
    request = read(request_of(required={"gone": [], "there": [_named("x")]}))
    wanted = {name: Requirement(name, "v1", "ConfigMap", match_name="x") for name in ("later", "gone", "there")}
    assert request.one(wanted["later"]) is Gap.NOT_FETCHED
    assert request.one(wanted["gone"]) is Gap.ABSENT
    found = request.one(wanted["there"])
    assert not isinstance(found, Gap)
    assert found.name == "x"


def test_a_kind_that_does_not_exist_has_no_schema() -> None:
    message = sdk.RunFunctionRequest()
    message.required_schemas["unknown"].SetInParent()
    message.required_schemas["known"].openapi_v3.update({"type": "object"})
    assert read(message).schemas == {"known": {"type": "object"}, "unknown": None}
    assert "asked-later" not in read(message).schemas
