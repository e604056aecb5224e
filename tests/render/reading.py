"""What the real engine renders of a composite, beside what a reviewer has read and what the preview composes."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from modelplane.observed.fields import RESOURCE_NAME
from modelplane.preview import ControlPlane
from modelplane.reading.kinds import key_of
from modelplane_dev import components
from modelplane_dev.processes.functions import Functions
from modelplane_dev.rendering.composing import CrossplaneBinaries, render

Manifest = dict[str, Any]

GOLDEN = Path(__file__).with_name("golden")
REWRITE = os.environ.get("MODELPLANE_GOLDEN") == "write"


def compare(name: str, text: str) -> None:
    """Assert that a text is what was read; `make golden` writes it instead."""
    file = GOLDEN / f"{name}.yaml"
    if REWRITE:
        file.write_text(text)
    assert text == file.read_text()


def compare_rendered(name: str, composite: Manifest, others: Sequence[Manifest], functions: Functions) -> str:
    """Assert that the first pass of a composite beside others renders as it was read; return what was rendered."""
    binaries = CrossplaneBinaries(cli=components.path("crossplane"), core=components.path("crossplane-core"))
    done = render(composite, functions, binaries, others=others)
    assert done.returncode == 0, done.stderr
    compare(name, done.stdout)
    return done.stdout


def compare_composed(plane: ControlPlane, composite: Manifest, rendered: str) -> None:
    """Assert that a pass of the preview, which plays no world, composes what was rendered."""
    plane.reconcile(*key_of(composite))
    there = [obj for obj in yaml.safe_load_all(rendered) if obj["kind"] != composite["kind"]]
    here = [obj for obj in plane.everything() if obj["metadata"].get("annotations", {}).get(RESOURCE_NAME)]
    assert _specs(there) == _specs(here)


def _specs(objects: Sequence[Manifest]) -> dict[str, Any]:
    return {obj["metadata"]["annotations"][RESOURCE_NAME]: obj["spec"] for obj in objects}
