"""The accepted and refused examples of cases/*.yaml, as whole objects.

What is large is written short: `{repeat: 3, text: x}` is the text xxx, `{repeat: 2, entry: {name: "v{n}"}}` a list of
two entries and `{repeat: 2, field: "v{n}", value: a}` a map of two fields, which differ by number. Inside an entry
the same may be used again; the inner number is put in first.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

FOLDER = Path(__file__).parent / "cases"
STEP = re.compile(r"[^.\[\]]+|\[\d+\]")


@dataclass(frozen=True)
class Case:
    """One rule of a kind: an object that keeps it, one that breaks it, and where and how the refusal is worded."""

    kind: str
    rule: str
    accepted: Manifest
    refused: Manifest
    field: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.rule}"


def read_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.yaml")) for case in _read(path)]


def example(kind: str) -> Manifest:
    """Return the object of a kind that its cases are changes of."""
    found: Manifest = yaml.safe_load((FOLDER / f"{kind.lower()}.yaml").read_text())["object"]
    return found


def _read(path: Path) -> Iterator[Case]:
    table = yaml.safe_load(path.read_text())
    base = table["object"]
    for row in table["cases"]:
        accepted, refused = _changed(base, row["accepted"]), _changed(base, row["refused"])
        yield Case(base["kind"], row["rule"], accepted, refused, row["field"], row["words"])


def _changed(base: Manifest, changes: Manifest) -> Manifest:
    result = deepcopy(base)
    for path, value in changes.items():
        *parents, last = [int(step[1:-1]) if step.startswith("[") else step for step in STEP.findall(path)]
        target: Any = result
        for step in parents:
            target = target[step]
        if value is None:
            del target[last]
        else:
            target[last] = _in_full(value)
    return result


def _in_full(value: Any) -> Any:
    """Return a deep copy of a value with everything in it that was written short written out."""
    if isinstance(value, list):
        return [_in_full(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "repeat" not in value:
        return {name: _in_full(each) for name, each in value.items()}
    times = range(value["repeat"])
    if "text" in value:
        return value["text"] * len(times)
    if "field" in value:
        return {value["field"].replace("{n}", str(number)): value["value"] for number in times}
    entry = _in_full(value["entry"])
    return [_numbered(entry, number) for number in times]


def _numbered(entry: Any, number: int) -> Any:
    if isinstance(entry, dict):
        return {name: _numbered(each, number) for name, each in entry.items()}
    if isinstance(entry, list):
        return [_numbered(each, number) for each in entry]
    return entry.replace("{n}", str(number)) if isinstance(entry, str) else entry
