"""Builds packages of Crossplane: the Configuration, that of the clouds, and one for each function.

The same content of the tree gives the same packages, byte for byte, whenever and wherever they are built.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from modelplane import __version__
from modelplane.kube.images import Image
from modelplane.model.names import API_VERSION
from modelplane.step.versions import INPUT_KIND, INPUT_VERSION
from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.packages import image

#: What the Configuration contains beside its metadata.
CONTENT = ("apis", "compositions")


class PackageError(Exception):
    """A package could not be built; the text says why."""


def build_all(target: Path, registry: str = "") -> Iterator[Path]:
    """Build every package into a folder, and yield the file of each. Raises what `build` and `image` raise.

    The image gets its own name below `registry`: on the inference clusters it downloads weights.
    """
    own = Image.MODELPLANE
    stamp = {own.variable: f"{registry.rstrip('/')}/{own.default}"} if registry else {}
    # The port that Crossplane names "metrics" in the pod of each package.
    variables = {**stamp, "METRICS_ADDRESS": "0.0.0.0:8080"}
    target.mkdir(parents=True, exist_ok=True)
    yield build_configuration(target / "modelplane.xpkg")
    yield build(ROOT / "clouds", target / "modelplane-clouds.xpkg")
    runtime = image.build_image()
    for metadata in sorted((ROOT / "package").glob("*/crossplane.yaml")):
        function = metadata.parent.name
        with tempfile.TemporaryDirectory() as scratch:
            tarball = Path(scratch) / "image.tar"
            runtime.write(tarball, ["modelplane", "serve", function], variables)
            file = build(
                metadata.parent, target / f"modelplane-{function}.xpkg", f"--embed-runtime-image-tarball={tarball}"
            )
        # The next packages contain the same layers, and compressing these takes longer than everything else.
        runtime = runtime.compressed_as_in(file)
        yield file


def build_configuration(file: Path, tree: Path = ROOT, version: str = __version__) -> Path:
    """Build the Configuration of a tree into a file, from its metadata, XRDs and Compositions; return the file."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for folder in CONTENT:
            shutil.copytree(tree / folder, root / folder)
        shutil.copy(tree / "crossplane.yaml", root)
        for composition in sorted((root / "compositions").glob("*.yaml")):
            stating = with_version(yaml.safe_load(composition.read_text()), version)
            composition.write_text(yaml.safe_dump(stating, sort_keys=False))
        return build(root, file)


def with_version(composition: Mapping[str, Any], version: str = __version__) -> dict[str, Any]:
    """Return a Composition that gives each of its steps a version as input, that of the tree if none is given."""
    stated = {"apiVersion": API_VERSION, "kind": INPUT_KIND, INPUT_VERSION: version}
    steps = [{**step, "input": stated} for step in composition["spec"]["pipeline"]]
    return {**composition, "spec": {**composition["spec"], "pipeline": steps}}


def build(root: Path, file: Path, *options: str) -> Path:
    """Build the package whose content is in a folder into a file, which is returned. Raises PackageError."""
    command = [str(components.path("crossplane")), "xpkg", "build", f"--package-root={root}", f"--package-file={file}"]
    command += options
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackageError(f"{file.name}: {done.stderr.strip()}")
    return file
