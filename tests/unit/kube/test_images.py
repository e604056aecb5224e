"""Every image that Modelplane runs stands in one table, and an installation can replace it."""

import re
from pathlib import Path

import pytest

import modelplane
from modelplane.kube import images
from modelplane.kube.images import Image

SOURCES = Path(modelplane.__file__).parent
REFERENCE = re.compile(r"""["'](?:[\w.-]+\.[\w.-]+/[\w./-]+):v?\d[\w.-]*["']""")


@pytest.mark.parametrize("image", Image)
def test_an_installation_replaces_an_image_by_its_variable(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(image.variable, raising=False)
    assert image.reference == image.default
    monkeypatch.setenv(image.variable, "mirror.example.org/image:v9")
    assert image.reference == "mirror.example.org/image:v9"


def test_no_other_module_names_an_image_but_those_of_a_cloud_which_its_nodes_always_have() -> None:
    found = {path for path in SOURCES.rglob("*.py") if REFERENCE.search(path.read_text())}
    of_clouds = {path for path in found if path.is_relative_to(SOURCES / "clouds")}
    assert found - of_clouds == {Path(images.__file__)}
