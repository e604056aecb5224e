"""Merge patches and server-side apply on JSON trees."""

from typing import Any

import pytest

from modelplane.preview.patches import apply_intent, merge_patch

#: The test cases of RFC 7386, appendix A: target, patch, result.
RFC_7386 = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), RFC_7386)
def test_a_merge_patch_is_that_of_rfc_7386(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result


#: What is there, what its owner applies, what it applied before, and what comes of it.
APPLIED = {
    "a field is set, another owner's stays": ({"theirs": 1}, {"ours": 2}, {}, {"theirs": 1, "ours": 2}),
    "force takes a field from another owner": ({"a": 1}, {"a": 2}, {}, {"a": 2}),
    "a field left out is removed": ({"a": 1, "b": 2}, {"b": 2}, {"a": 1, "b": 2}, {"b": 2}),
    "a field left out that was never applied stays": ({"a": 1}, {}, {}, {"a": 1}),
    "fields merge at any depth": ({"m": {"a": 1}}, {"m": {"b": 2}}, {"m": {}}, {"m": {"a": 1, "b": 2}}),
    "of a mapping left out, others' fields stay": ({"m": {"a": 1, "b": 2}}, {}, {"m": {"a": 1}}, {"m": {"b": 2}}),
    "a mapping left out goes with its last field": ({"m": {"a": 1}, "n": 1}, {}, {"m": {"a": 1}}, {"n": 1}),
    "a list is replaced whole": ({"l": [1, 2]}, {"l": [3]}, {"l": [1, 2]}, {"l": [3]}),
    "a mapping takes the place of a value": ({"a": 1}, {"a": {"b": 1}}, {"a": 1}, {"a": {"b": 1}}),
}


@pytest.mark.parametrize(("current", "intent", "previous", "result"), APPLIED.values(), ids=APPLIED)
def test_an_owner_applies_its_whole_intent(current: Any, intent: Any, previous: Any, result: Any) -> None:
    assert apply_intent(current, intent, previous) == result
