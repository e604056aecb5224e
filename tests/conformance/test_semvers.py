"""Semantic versions against the answers of Kubernetes' semver library."""

import json
from pathlib import Path

from modelplane.cel import semver

CASES = json.loads((Path(__file__).parents[1] / "data" / "semvers.json").read_text())


def valid(text: str) -> bool:
    try:
        semver.parse(text)
    except semver.SemverError:
        return False
    return True


def test_texts_are_versions_exactly_where_they_are_in_kubernetes() -> None:
    assert [case["text"] for case in CASES["parse"] if valid(case["text"]) is not case["valid"]] == []


def test_versions_compare_as_in_kubernetes() -> None:
    wrong = [
        case
        for case in CASES["compare"]
        if semver.compare(semver.parse(case["a"]), semver.parse(case["b"])) != case["cmp"]
    ]
    assert wrong == []
