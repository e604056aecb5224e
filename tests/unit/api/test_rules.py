"""Every rule and bound of the XRDs, by example: Crossplane's own validator and the preview's admission agree."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane.preview.admission import InvalidObject, admit
from modelplane.reading.definitions import CHECKOUT, xrds
from modelplane_dev import components
from unit.api.cases import Case, Manifest, read_cases

CASES = read_cases()


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[list[Manifest], list[Manifest]]]:
    """For each case the errors of its accepted and of its refused object; one call of the CLI validates them all."""
    folder = tmp_path_factory.mktemp("validate")
    objects = folder / "objects.yaml"
    objects.write_text("\n---\n".join(json.dumps(obj) for case in CASES for obj in (case.accepted, case.refused)))
    command: list[str | Path] = [components.path("crossplane"), "resource", "validate", CHECKOUT / "apis", objects]
    run = subprocess.run(
        [*command, "-o", "json", "--crossplane-image=", f"--cache-dir={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(run.stdout)["resources"]
    assert [entry["name"] for entry in report] == [
        obj["metadata"]["name"] for case in CASES for obj in (case.accepted, case.refused)
    ]
    errors = [entry.get("errors", []) for entry in report]
    return list(zip(errors[::2], errors[1::2], strict=True))


@pytest.mark.proves("P6")
@pytest.mark.parametrize("number", range(len(CASES)), ids=[str(case) for case in CASES])
def test_crossplane_validates_as_the_example_says(validated: list[Any], number: int) -> None:
    accepted, refused = validated[number]
    assert accepted == []
    assert CASES[number].words in " ".join(error["message"] for error in refused)
    assert CASES[number].field in [error.get("field", "") for error in refused]


@pytest.mark.proves("P10", "P131", "P135")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_preview_admits_as_the_example_says(case: Case) -> None:
    admit(case.accepted)
    with pytest.raises(InvalidObject) as refusal:
        admit(case.refused)
    assert refusal.value.field == case.field
    assert case.words in refusal.value.why


def messages(schema: Any) -> Iterator[str]:
    """Yield the message of every rule anywhere in a schema."""
    if isinstance(schema, dict):
        yield from (rule["message"] for rule in schema.get("x-kubernetes-validations", ()))
        for value in schema.values():
            yield from messages(value)


@pytest.mark.parametrize("kind", xrds())
def test_every_rule_has_an_example(kind: str) -> None:
    words = [case.words for case in CASES if case.kind == kind]
    without = {message for message in messages(xrds()[kind]) if not any(text in message for text in words)}
    assert without == set()


def test_examples_change_one_thing_to_tell_a_rule() -> None:
    assert [str(case) for case in CASES if case.accepted == case.refused] == []


def test_the_checkout_holds_the_definitions() -> None:
    assert sorted(path.parent.name for path in Path(CHECKOUT, "apis").glob("*/definition.yaml")) == sorted(
        xrd["spec"]["names"]["plural"] for xrd in xrds().values()
    )
