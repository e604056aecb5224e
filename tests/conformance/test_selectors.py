"""Selectors against the verdicts of the real Kubernetes DRA code."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane import cel
from modelplane.model.fleet import Device

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
SELECTORS = json.loads((DATA / "dra-selectors.json").read_text())
CONSTRUCTS = json.loads((DATA / "dra-constructs.json").read_text())
OUTCOMES = {"true": "match", "false": "no-match"}

Case = tuple[str, dict[str, Any], str]


def table(name: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load((HERE / name).read_text())
    return found


def expected(verdict: str) -> str:
    return OUTCOMES.get(verdict, verdict)


@cache
def answer(text: str, device: Device) -> tuple[str, str]:
    try:
        verdict = cel.compile(text).evaluate(device)
    except cel.SelectorError as error:
        return "compile-error", error.why
    return verdict.outcome.value, verdict.why or ""


def ours(text: str, manifest: dict[str, Any]) -> tuple[str, str]:
    return answer(text, cel.read(manifest))


REALISTIC: list[Case] = [
    (row["cel"], SELECTORS["devices"][row["device"]], expected(row["verdict"])) for row in SELECTORS["realistic"]
]
EDGE: list[Case] = [(row["cel"], SELECTORS["edge_device"], expected(row["verdict"])) for row in SELECTORS["edge"]]
OTHERS: list[Case] = [
    *((row["cel"], SELECTORS["edge_device"], expected(row["verdict"])) for row in CONSTRUCTS["constructs"]),
    *((row["cel"], CONSTRUCTS["devices"][row["device"]], expected(row["verdict"])) for row in CONSTRUCTS["generated"]),
]


def differences(cases: list[Case]) -> list[dict[str, str]]:
    found = []
    seen: set[str] = set()
    for text, manifest, kubernetes in cases:
        outcome, why = ours(text, manifest)
        if outcome != kubernetes and text not in seen:
            seen.add(text)
            found.append({"cel": text, "kubernetes": kubernetes, "ours": outcome, "why": why})
    return found


@pytest.mark.proves("P41")
@pytest.mark.parametrize("cases", [REALISTIC, EDGE, OTHERS], ids=["realistic", "edge", "others"])
def test_nothing_matches_that_does_not_match_in_kubernetes(cases: list[Case]) -> None:
    false = [text for text, manifest, kubernetes in cases if ours(text, manifest)[0] == "match" != kubernetes]
    assert false == []


def test_realistic_selectors_place_as_in_kubernetes() -> None:
    places = {"match": True, "no-match": False}
    wrong = [
        text
        for text, manifest, kubernetes in REALISTIC
        if places.get(ours(text, manifest)[0]) is not places.get(kubernetes)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("cases", "name"),
    [(REALISTIC, "error-kinds.yaml"), (EDGE, "not-supported.yaml"), (OTHERS, "constructs.yaml")],
    ids=["error-kinds", "not-supported", "constructs"],
)
def test_differences_are_exactly_those_of_the_table(cases: list[Case], name: str) -> None:
    assert differences(cases) == table(name)


@pytest.mark.parametrize("name", ["not-supported.yaml", "constructs.yaml"])
def test_a_difference_is_an_error_that_says_why(name: str) -> None:
    assert [row for row in table(name) if row["ours"] not in {"compile-error", "runtime-error"} or not row["why"]] == []


def test_what_is_refused_of_the_edge_is_named() -> None:
    assert [row for row in table("not-supported.yaml") if "not supported" not in row["why"]] == []


@pytest.mark.parametrize("cases", [REALISTIC, EDGE, OTHERS], ids=["realistic", "edge", "others"])
def test_a_selector_says_the_same_of_a_device_without_what_it_does_not_read(cases: list[Case]) -> None:
    different, narrower = [], 0
    for text, manifest, _ in cases:
        device, reads = cel.read(manifest), cel.reads([text])
        narrower += reads is not None and bool(reads)
        if answer(text, cel.seen(device, reads)) != answer(text, device):
            different.append(text)
    assert different == []
    assert narrower > 10
