"""The cases of ratcheting.yaml, as whole objects, and the schemas before and after they became stricter."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from modelplane.preview.patches import merge_patch

Manifest = dict[str, Any]

GROUP, KIND, PLURAL = "example.org", "Sample", "samples"
_FILE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
#: What a looser schema keeps of a stricter one: its shape.
_SHAPE = frozenset({"type", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"})


@dataclass(frozen=True)
class Case:
    """An update: the object as it is stored, as it is to be, and what the refusal says ("" for none)."""

    rule: str
    before: Manifest
    after: Manifest
    refused: str


def cases() -> Iterator[Case]:
    """Yield every case."""
    for number, (rule, case) in enumerate(_FILE["cases"].items()):
        before: Manifest = {
            "apiVersion": f"{GROUP}/v1",
            "kind": KIND,
            "metadata": {"name": f"case-{number}"},
            "spec": case["stored"],
        }
        after = merge_patch(before, {"metadata": {"labels": {"edited": "yes"}}, "spec": case["edit"] or {}})
        yield Case(rule, before, after, case["refused"] or "")


def strict() -> Manifest:
    """Return the schema of the kind as it is at the update."""
    return _of_object(_FILE["schema"])


def loose() -> Manifest:
    """Return the schema of the kind as it was when the objects were stored."""
    return _of_object(_loosened(_FILE["schema"]))


def _of_object(spec: Manifest) -> Manifest:
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {"apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec},
    }


def _loosened(schema: Manifest) -> Manifest:
    kept = {key: value for key, value in schema.items() if key in _SHAPE}
    for key in ("items", "additionalProperties"):
        if key in schema:
            kept[key] = _loosened(schema[key])
    if "properties" in schema:
        kept["properties"] = {name: _loosened(each) for name, each in schema["properties"].items()}
    if "x-kubernetes-list-map-keys" in kept:
        # A server refuses a definition whose list-map has keys that may be missing.
        kept["items"]["required"] = kept["x-kubernetes-list-map-keys"]
    return kept
