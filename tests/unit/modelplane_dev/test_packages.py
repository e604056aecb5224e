"""What `make package` says about the packages that it has built."""

from pathlib import Path

import pytest

from modelplane_dev.packages.__main__ import describe_push


@pytest.mark.parametrize(
    ("registry", "target"), [("", "REGISTRY/$("), ("ghcr.io/acme", "ghcr.io/acme/$("), ("ghcr.io/acme/", "acme/$(")]
)
def test_it_says_how_to_push_the_packages(registry: str, target: str) -> None:
    said = describe_push(Path("dist"), registry)
    assert "for package in dist/*.xpkg" in said
    assert "crossplane xpkg push" in said
    assert target in said


def test_it_says_what_is_missing_without_a_registry() -> None:
    assert "make package REGISTRY=" in describe_push(Path("dist"), "")
    assert "make package" not in describe_push(Path("dist"), "ghcr.io/acme")
