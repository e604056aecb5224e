"""The accepted and refused examples of cases/*.yaml, as whole objects."""

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
            target[last] = deepcopy(value)
    return result
