"""What is installed is pinned, and by one truth."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from modelplane.kube.images import Image
from modelplane_dev.components.sets import pinned
from modelplane_dev.components.sources import CORE, GATEWAY_API, INFERENCE_EXTENSION, LWS, PROVIDER
from modelplane_dev.folders import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def canonical(requirement: str) -> str:
    name, version = requirement.split("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def test_the_lock_has_every_dependency_of_the_project_at_its_version() -> None:
    stated = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
        *PROJECT["build-system"]["requires"],
    ]
    locked = {f"{name}=={version}" for name, version in PIN.findall(LOCK)}
    assert {canonical(requirement) for requirement in stated} - locked == set()


def test_every_locked_package_has_hashes() -> None:
    assert all("--hash=sha256:" in entry for entry in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE) if entry)


def test_the_lock_names_no_index() -> None:
    assert "://" not in LOCK


def _documents(file: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / file).read_text()))


def test_the_provider_that_is_installed_is_the_one_that_is_tested_and_that_the_configuration_asks_for() -> None:
    (configuration,) = _documents("crossplane.yaml")
    (dependency,) = configuration["spec"]["dependsOn"]
    (installed,) = [found for found in _documents("install/provider-kubernetes.yaml") if found["kind"] == "Provider"]
    version = pinned(*PROVIDER)
    assert dependency["version"] == f">={version}"
    assert installed["spec"]["package"] == f"{dependency['package']}:{version}"


#: What the page on installing says is tested together, and where its version stands.
TESTED = {
    "Crossplane": pinned(*CORE),
    "provider-kubernetes": pinned(*PROVIDER),
    "LeaderWorkerSet": pinned(*LWS),
    "Gateway API": pinned(*GATEWAY_API),
    "Gateway API Inference Extension": pinned(*INFERENCE_EXTENSION),
    "Kubernetes": pinned("kube", "k8s.io/kubernetes"),
}


@pytest.mark.parametrize("row", [*TESTED.items(), *((image.variable, image.default) for image in Image)])
def test_the_page_on_installing_has_every_version_and_image(row: tuple[str, str]) -> None:
    page = (ROOT / "docs/install.md").read_text().replace("`", "")
    assert page.splitlines().count(f"| {' | '.join(row)} |") == 1
