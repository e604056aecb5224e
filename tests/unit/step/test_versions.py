"""A step says whether the Configuration that calls it is of its version, where that states one."""

import json
from dataclasses import replace
from typing import Any

import pytest

from modelplane import __version__
from modelplane.model.conditions import CONDITIONS, Condition, Status
from modelplane.step import Object, Request, Result
from modelplane.step.completion import CONTEXT_CONDITIONS, complete
from modelplane.transport.messages import Request as RequestMessage
from modelplane.transport.request import read


def asked(kind: str, version: str, **parts: Any) -> Request:
    return Request(Object({"kind": kind, "metadata": {"name": "a"}}, kind), version=version, **parts)


def versions(result: Result) -> Condition | None:
    return next((each for each in result.conditions if each.type == "VersionsMatch"), None)


@pytest.mark.parametrize("kind", CONDITIONS)
@pytest.mark.parametrize("result", [Result(), Result(fatal="no")], ids=["decided", "fatal"])
def test_every_response_to_a_composition_that_states_a_version_says_whether_it_matches(
    kind: str, result: Result
) -> None:
    same, other = (versions(complete(asked(kind, version), result)) for version in (__version__, "9.9.9"))
    assert same is not None
    assert (same.status, same.reason, same.message) == (Status.TRUE, "Matched", "")
    assert other is not None
    assert (other.status, other.reason) == (Status.FALSE, "Skew")
    assert f"the Configuration is of version 9.9.9, and a function of version {__version__}" in other.message
    assert "Install the Configuration and all functions of one version." in other.message


@pytest.mark.parametrize("kind", CONDITIONS)
def test_a_composition_that_states_no_version_is_taken_as_it_is(kind: str) -> None:
    assert versions(complete(asked(kind, ""), Result())) is None


def test_a_function_that_matches_does_not_make_up_for_an_earlier_one_that_does_not() -> None:
    earlier = complete(asked("ModelDeployment", "9.9.9"), Result()).context
    assert json.loads(earlier[CONTEXT_CONDITIONS])
    found = versions(complete(asked("ModelDeployment", __version__, context=earlier), Result()))
    assert found is not None
    assert found.status is Status.FALSE
    later = complete(replace(asked("ModelDeployment", "9.9.9"), context={}), Result())
    assert getattr(versions(later), "status", None) is Status.FALSE


#: Inputs of a step, and the version that is read from them.
INPUTS: dict[str, tuple[dict[str, Any], str]] = {
    "stated": ({"kind": "StepInput", "version": "0.2.0"}, "0.2.0"),
    "none": ({}, ""),
    "another kind of input": ({"kind": "Values", "replicas": 3}, ""),
}


@pytest.mark.parametrize(("given", "version"), INPUTS.values(), ids=INPUTS)
def test_the_version_is_read_from_the_steps_input(given: dict[str, Any], version: str) -> None:
    from google.protobuf.struct_pb2 import Struct  # noqa: PLC0415 - the message of the wire, for this test alone

    struct = Struct()
    struct.update(given)
    message = RequestMessage()
    message.input = struct.SerializeToString()
    assert read(message.SerializeToString()).request.version == version
