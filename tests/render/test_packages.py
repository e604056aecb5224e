"""What is installed is what Crossplane takes: the Configuration, the Functions, and what stands in install/."""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from modelplane.cli.serve import FUNCTIONS
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.packages.image import Image
from render.validation import validate

PACKAGES = sorted((ROOT / "package").glob("*/crossplane.yaml"))


def build(root: Path, target: Path, *options: str) -> None:
    command = [
        str(components.path("crossplane")),
        "xpkg",
        "build",
        f"--package-root={root}",
        f"--package-file={target}",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_configuration_builds_from_its_apis_and_compositions(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for folder in ("apis", "compositions"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "crossplane.yaml", root)
    build(root, tmp_path / "configuration.xpkg")


def test_the_configuration_of_the_clouds_builds_with_what_activates_their_kinds(tmp_path: Path) -> None:
    build(ROOT / "clouds", tmp_path / "clouds.xpkg")
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    shutil.copy(ROOT / "clouds" / "activation.yaml", manifests)
    assert validate(manifests, [components.core_crds()], tmp_path) == ""


@pytest.mark.parametrize("metadata", PACKAGES, ids=lambda path: path.parent.name)
def test_a_function_package_builds(metadata: Path, tmp_path: Path) -> None:
    build(metadata.parent, tmp_path / "function.xpkg")


def _packaged(image: Image, folder: Path) -> Path:
    folder.mkdir()
    tarball, package = folder / "image.tar", folder / "function.xpkg"
    image.write(tarball, ["modelplane"], {})
    build(PACKAGES[0].parent, package, f"--embed-runtime-image-tarball={tarball}")
    return package


def _layer(content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        entry = tarfile.TarInfo("file")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def test_layers_that_have_been_compressed_for_a_package_make_the_same_bytes_of_the_next(tmp_path: Path) -> None:
    image = Image((_layer(b"a" * 100_000), _layer(b"b" * 100_000)))
    package = _packaged(image, tmp_path / "first")
    taken = image.compressed_as_in(package)
    assert all(len(each) < 10_000 for each in taken.compressed.values())
    assert len(taken.compressed) == len(image.layers)
    assert _packaged(taken, tmp_path / "next").read_bytes() == package.read_bytes()


def test_package_metadata_is_as_crossplane_defines_it(tmp_path: Path) -> None:
    metadata = tmp_path / "metadata"
    metadata.mkdir()
    for file in (ROOT / "crossplane.yaml", ROOT / "clouds" / "crossplane.yaml", *PACKAGES):
        shutil.copy(file, metadata / f"{file.parent.name}.yaml")
    assert validate(metadata, [components.core_meta_crds()], tmp_path) == ""


def test_compositions_are_as_crossplane_defines_them(tmp_path: Path) -> None:
    assert validate(ROOT / "compositions", [components.core_crds()], tmp_path) == ""


def test_every_function_that_is_served_is_packaged_and_every_one_that_a_composition_calls_is_served() -> None:
    served = {f"modelplane-{name}" for name in FUNCTIONS}
    called = {
        step["functionRef"]["name"]
        for file in (ROOT / "compositions").glob("*.yaml")
        for step in yaml.safe_load(file.read_text())["spec"]["pipeline"]
    }
    assert {yaml.safe_load(file.read_text())["metadata"]["name"] for file in PACKAGES} == served
    assert called <= served


class TestInstallation:
    def test_its_objects_are_as_crossplane_and_kubernetes_define_them(self, tmp_path: Path) -> None:
        manifests = tmp_path / "manifests"
        shutil.copytree(ROOT / "install", manifests, ignore=shutil.ignore_patterns("kustomization.yaml", "crossplane"))
        assert validate(manifests, [components.core_crds()], tmp_path) == ""

    def test_every_file_is_applied(self) -> None:
        listed = yaml.safe_load((ROOT / "install" / "kustomization.yaml").read_text())["resources"]
        files = {file.name for file in (ROOT / "install").glob("*.yaml")} - {"kustomization.yaml"}
        assert set(listed) == files

    def test_it_has_the_namespace_that_holds_kubeconfigs(self) -> None:
        assert yaml.safe_load((ROOT / "install" / "namespace.yaml").read_text())["metadata"]["name"] == SYSTEM_NAMESPACE

    def test_the_provider_is_at_the_lowest_version_that_the_configuration_asks_for(self) -> None:
        asked = yaml.safe_load((ROOT / "crossplane.yaml").read_text())["spec"]["dependsOn"][0]
        provider = next(yaml.safe_load_all((ROOT / "install" / "provider-kubernetes.yaml").read_text()))
        lowest, _, _ = asked["version"].removeprefix(">=").partition(" ")
        assert provider["spec"]["package"] == f"{asked['package']}:{lowest}"
