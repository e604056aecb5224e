"""The examples on the real engine: every pass of every composite comes to what the preview says."""

from pathlib import Path

import pytest
import yaml

import engines
from modelplane.preview import ControlPlane
from processes import Functions
from render.examples import DEPLOYMENTS, FLEET, SERVING, fleet, settle_both
from render.validation import ROOT, validate


def assert_valid(plane: ControlPlane, scratch: Path) -> None:
    """Assert that every object is as its XRD or CRD defines it, status included."""
    file = scratch / "objects.yaml"
    file.write_text(yaml.safe_dump_all(plane.everything()))
    schemas = [ROOT / "apis", engines.provider_crds(), engines.core_crds()]
    assert validate(file, schemas, scratch / "cache") == ""


def test_the_fleet_publishes_on_the_real_engine_what_the_preview_says(functions: Functions, tmp_path: Path) -> None:
    plane = fleet()
    assert settle_both(plane, FLEET, functions) > 0
    assert_valid(plane, tmp_path)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_comes_to_the_same_on_the_real_engine_pass_by_pass(
    name: str, functions: Functions, tmp_path: Path
) -> None:
    plane = fleet()
    assert plane.settle()
    plane.apply(DEPLOYMENTS[name])
    assert settle_both(plane, SERVING, functions) > 0
    assert_valid(plane, tmp_path)
