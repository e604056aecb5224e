"""One call of a step, whatever the step does."""

import pytest

from modelplane.step import Object, Request, Result
from modelplane.step.call import dispatch, run


def _request(kind: str = "InferenceClass") -> Request:
    conditions = [{"type": "Accepted", "status": "True", "reason": "Available"}]
    body = {"kind": kind, "metadata": {"name": "h100"}, "status": {"conditions": conditions}}
    return Request(composite=Object(body, kind))


def _broken(_request: Request) -> Result:
    raise KeyError("nodes\nof a pool")


def test_an_exception_of_a_step_is_a_fatal_result_in_one_line_with_the_conditions_as_they_were() -> None:
    outcome = run(_broken, _request())
    result = outcome.result
    assert result.fatal is not None
    assert result.fatal.endswith(r"KeyError: 'nodes\nof a pool'")
    assert "\n" not in result.fatal
    assert [(one.type, one.status.value, one.reason) for one in result.conditions] == [
        ("Accepted", "True", "Available")
    ]
    assert isinstance(outcome.defect, KeyError)


def test_a_composite_goes_to_the_step_of_its_kind() -> None:
    function = dispatch("f", {"A": lambda _: Result(ready=True), "B": lambda _: Result(ready=False)})
    assert [run(function, _request(kind)).result.ready for kind in "AB"] == [True, False]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("C", "function f composes no C (it knows: A, B); correct the Composition"),
        ("", "function f composes no object without a kind (it knows: A, B); correct the Composition"),
    ],
)
def test_a_kind_without_a_step_is_fatal_and_names_kind_and_function(kind: str, text: str) -> None:
    function = dispatch("f", {"B": lambda _: Result(), "A": lambda _: Result()})
    assert run(function, _request(kind)).result.fatal == text
