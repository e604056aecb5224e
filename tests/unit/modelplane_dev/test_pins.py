"""What is installed is pinned, and by one truth."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import files, packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.kube.images import Image
from modelplane_dev.components.sets import pinned
from modelplane_dev.components.sources import (
    AI_GATEWAY,
    CORE,
    ENVOY_GATEWAY,
    GATEWAY_API,
    HELM_PROVIDER,
    INFERENCE_EXTENSION,
    LWS,
    PROVIDER,
)
from modelplane_dev.folders import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
DECLARED = [*PROJECT["project"]["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
LOCK = (ROOT / "requirements.lock").read_text()
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def canonical(requirement: str) -> str:
    name, version = requirement.split("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def test_the_lock_has_every_dependency_of_the_project_at_its_version() -> None:
    stated = [
        *DECLARED,
        *PROJECT["dependency-groups"]["dev"],
        *PROJECT["build-system"]["requires"],
    ]
    locked = {f"{name}=={version}" for name, version in PIN.findall(LOCK)}
    assert {canonical(requirement) for requirement in stated} - locked == set()


def _imported(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each module that a package of the product imports from elsewhere, and the file that does."""
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            yield from ((name, file) for name in names)


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def _distributions(module: str) -> frozenset[str]:
    """Return what installs a module; for one in a namespace that several share, the one that has its file."""
    top = module.partition(".")[0]
    found = set(_installed().get(top, ()))
    if len(found) > 1:
        path = module.replace(".", "/")
        found = {name for name in found if any(str(file).startswith(path) for file in files(name) or ())}
    return frozenset(re.sub("[-_.]+", "-", name).lower() for name in found)


def test_what_the_product_imports_is_declared_and_what_is_declared_is_imported() -> None:
    declared = {canonical(requirement).partition("==")[0] for requirement in DECLARED}
    used: set[str] = set()
    for module, file in _imported(ROOT / "functions" / "modelplane"):
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == "modelplane":
            continue
        found = _distributions(module)
        assert found & declared, f"{file} imports {module} of {found or 'what is not installed'}"
        used |= found & declared
    assert used == declared


def test_every_locked_package_has_hashes() -> None:
    assert all("--hash=sha256:" in entry for entry in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE) if entry)


def test_the_lock_names_no_index() -> None:
    assert "://" not in LOCK


def _documents(file: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / file).read_text()))


@pytest.mark.parametrize(("name", "module"), [("provider-kubernetes", PROVIDER), ("provider-helm", HELM_PROVIDER)])
def test_a_provider_that_is_installed_is_the_one_that_is_tested_and_that_the_configuration_asks_for(
    name: str, module: tuple[str, str]
) -> None:
    (configuration,) = _documents("crossplane.yaml")
    (dependency,) = [each for each in configuration["spec"]["dependsOn"] if each["package"].endswith(f"/{name}")]
    (installed,) = [found for found in _documents(f"install/{name}.yaml") if found["kind"] == "Provider"]
    version = pinned(*module)
    assert dependency["version"] == f">={version} <v1.4.0"
    assert installed["spec"]["package"] == f"{dependency['package']}:{version}"
    assert installed["metadata"]["name"] == dependency["package"].partition("/")[2].replace("/", "-")


#: What the page on installing says is tested together, and where its version stands.
TESTED = {
    "Crossplane": pinned(*CORE),
    "provider-kubernetes": pinned(*PROVIDER),
    "provider-helm": pinned(*HELM_PROVIDER),
    "LeaderWorkerSet": pinned(*LWS),
    "Gateway API": pinned(*GATEWAY_API),
    "Envoy Gateway": pinned(*ENVOY_GATEWAY),
    "Envoy AI Gateway": pinned(*AI_GATEWAY),
    "Gateway API Inference Extension": pinned(*INFERENCE_EXTENSION),
    "Kubernetes": pinned("kube", "k8s.io/kubernetes"),
}


@pytest.mark.parametrize("row", [*TESTED.items(), *((image.variable, image.default) for image in Image)])
def test_the_page_on_installing_has_every_version_and_image(row: tuple[str, str]) -> None:
    page = (ROOT / "docs/install.md").read_text().replace("`", "")
    assert page.splitlines().count(f"| {' | '.join(row)} |") == 1
