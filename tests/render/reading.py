"""What the real engine renders of a composite, beside what the preview composes."""

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

#: Golden files of what is rendered.
GOLDEN = Path(__file__).with_name("golden")


def first_pass(composite: Manifest, others: Sequence[Manifest], functions: Functions) -> str:
    """Return what the first pass of a composite beside others renders, as YAML."""
    binaries = CrossplaneBinaries(cli=components.path("crossplane"), core=components.path("crossplane-core"))
    done = render(composite, functions, binaries, others=others)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compare_composed(plane: ControlPlane, composite: Manifest, rendered: str) -> None:
    """Assert that a pass of the preview, which plays no world, composes what was rendered."""
    plane.reconcile(*key_of(composite))
    there = [obj for obj in yaml.safe_load_all(rendered) if obj["kind"] != composite["kind"]]
    here = [obj for obj in plane.everything() if obj["metadata"].get("annotations", {}).get(RESOURCE_NAME)]
    assert _specs(there) == _specs(here)


def _specs(objects: Sequence[Manifest]) -> dict[str, Any]:
    return {obj["metadata"]["annotations"][RESOURCE_NAME]: obj["spec"] for obj in objects}
