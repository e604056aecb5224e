"""What a server refuses of a new spec for its size is found in a stored one, under the name of its field."""

import pytest

from modelplane.observed.bounds import find_over_bound
from modelplane.step import Object
from unit.api.cases import Case, Manifest, read_cases

SIZES = [
    case
    for case in read_cases()
    if case.field.startswith("spec.") and ("must have at most" in case.words or "may not be more than" in case.words)
]


def obj(body: Manifest) -> Object:
    return Object(body, object())


def named(case: Case) -> str:
    """Return the field of a case with the names of list entries instead of their numbers."""
    (name, *_) = (entry["name"] for entry in case.refused["spec"].get("engines", [{"name": ""}]))
    return case.field.replace("engines[0]", f"engines[{name}]")


def test_there_are_examples_of_the_pods_of_both_kinds() -> None:
    assert {case.kind for case in SIZES} >= {"ModelDeployment", "ModelReplica", "ModelCache"}


@pytest.mark.parametrize("case", [case for case in SIZES if not case.kind.startswith("Inference")], ids=str)
def test_a_value_over_its_bound_is_found_under_its_field(case: Case) -> None:
    assert find_over_bound(obj(case.accepted)) is None
    found = find_over_bound(obj(case.refused))
    assert found is not None
    assert found.kind == case.kind
    assert found.field.replace(".annotations[a]", ".annotations.a").replace("[l]", ".l") == named(case)
    assert found.why.startswith("has ")
    assert "and at most " in found.why


@pytest.mark.parametrize("spec", [None, 1, [], {}, {"engines": 1}, {"engines": [1, {"members": {}}]}])
def test_a_malformed_spec_is_over_no_bound(spec: object) -> None:
    assert find_over_bound(obj({"kind": "ModelReplica", "metadata": {"name": "r"}, "spec": spec})) is None


def test_what_is_too_large_is_not_looked_into() -> None:
    class Untouched(list[object]):
        def __iter__(self) -> object:  # type: ignore[override]
            raise AssertionError("looked into")

    spec = {"engines": Untouched(range(9))}
    found = find_over_bound(obj({"kind": "ModelReplica", "metadata": {"name": "r"}, "spec": spec}))
    assert str(found) == "ModelReplica r: spec.engines: has 9 entries, and at most 8 are allowed"
