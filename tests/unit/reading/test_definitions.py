"""Where admission finds the XRDs: in the checkout, or in what a wheel carries."""

import shutil
import tomllib
from pathlib import Path

import pytest

from modelplane.reading import definitions


def test_a_wheel_carries_the_definitions_where_the_preview_looks() -> None:
    project = tomllib.loads((definitions.CHECKOUT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    package = definitions.CHECKOUT / "functions"
    assert {folder: package / target for folder, target in included.items()} == {
        folder: definitions.PACKAGED / folder for folder in ("apis", "compositions")
    }


def test_definitions_are_read_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("apis", "compositions"):
        shutil.copytree(definitions.CHECKOUT / folder, tmp_path / "wheel" / folder)
    monkeypatch.setattr(definitions, "PACKAGED", tmp_path / "wheel")
    monkeypatch.setattr(definitions, "CHECKOUT", tmp_path / "nowhere")
    assert definitions.xrds.__wrapped__() == definitions.xrds()
    assert definitions.compositions.__wrapped__() == definitions.compositions()


def test_a_composition_composes_a_kind_that_is_defined() -> None:
    assert set(definitions.compositions()) <= set(definitions.xrds())
