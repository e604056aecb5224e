"""Builds what is installed on a control cluster into dist/: the Configuration, and a package for each function.

    package.py [--registry HOST/PATH] [FOLDER]     build all packages into a folder (dist/ when none is named), and
                                                   print their digests; the registry is where they will be pushed

Packages are the same, byte for byte, whenever and wherever they are built from one content of the tree.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import engines
import image
from modelplane.compose_cache.image import IMAGE, VARIABLE

ROOT = Path(__file__).resolve().parent.parent
#: What stands in the Configuration beside its metadata.
CONTENT = ("apis", "compositions")


class PackageError(Exception):
    """A package could not be built; the text says why."""


def build_all(target: Path, registry: str = "") -> Iterator[Path]:
    """Build every package into a folder, and yield the file of each. Raises what `build` and `image` raise.

    The image is told its own name below `registry`: on the inference clusters it downloads weights.
    """
    stamp = {VARIABLE: f"{registry.rstrip('/')}/{IMAGE}" if registry else IMAGE}
    target.mkdir(parents=True, exist_ok=True)
    yield build_configuration(target / "modelplane.xpkg")
    runtime = image.build_image()
    for metadata in sorted((ROOT / "package").glob("*/crossplane.yaml")):
        function = metadata.parent.name
        with tempfile.TemporaryDirectory() as scratch:
            tarball = Path(scratch) / "image.tar"
            runtime.write(tarball, ["modelplane", "serve", function], stamp)
            yield build(
                metadata.parent, target / f"modelplane-{function}.xpkg", f"--embed-runtime-image-tarball={tarball}"
            )


def build_configuration(file: Path) -> Path:
    """Build the Configuration into a file, from its metadata, XRDs and Compositions; return the file."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for folder in CONTENT:
            shutil.copytree(ROOT / folder, root / folder)
        shutil.copy(ROOT / "crossplane.yaml", root)
        return build(root, file)


def build(root: Path, file: Path, *options: str) -> Path:
    """Build the package whose content is in a folder into a file, which is returned. Raises PackageError."""
    command = [str(engines.path("crossplane")), "xpkg", "build", f"--package-root={root}", f"--package-file={file}"]
    command += options
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackageError(f"{file.name}: {done.stderr.strip()}")
    return file


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build what is installed on a control cluster.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--registry", default="", help="where the packages will be pushed, for example ghcr.io/acme")
    given = parser.parse_args()
    try:
        for file in build_all(given.folder, given.registry):
            print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file}")
    except (PackageError, image.ImageError, engines.BuildError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
