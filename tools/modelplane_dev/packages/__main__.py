"""Builds what is installed on a control cluster into dist/: the Configuration, and a package for each function.

    python -m modelplane_dev.packages [--registry HOST/PATH] [FOLDER]

builds all packages into a folder (dist/ when none is named), and the bill of materials of their image beside them
(modelplane.cdx.json). It prints their digests, and how to push them; the registry is where they will be pushed.
"""

import argparse
import hashlib
import sys
from pathlib import Path

from modelplane import __version__
from modelplane.kube.images import Image
from modelplane_dev.components import ComponentError
from modelplane_dev.folders import ROOT
from modelplane_dev.packages.image import PINS, ImageError
from modelplane_dev.packages.sbom import bill_of_materials
from modelplane_dev.packages.xpkg import PackageError, build_all


def describe_push(folder: Path, registry: str) -> str:
    """Return the command that pushes the packages in a folder, and what their image lacks without a registry."""
    target = registry.rstrip("/") or "REGISTRY"
    lines = [
        "Push them with",
        f"  for package in {folder}/*.xpkg; do",
        '    crossplane xpkg push --package-files="$package" \\',
        f'      "{target}/$(basename "$package" .xpkg):v{__version__}"',
        "  done",
    ]
    if not registry:
        lines += [
            "Built without a registry: weights are not downloaded, because the image for that is not known. Build",
            f"again with `make package REGISTRY=...`, or set {Image.MODELPLANE.variable} in install/functions.yaml.",
        ]
    return "\n".join(lines)


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build what is installed on a control cluster.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--registry", default="", help="where the packages will be pushed, for example ghcr.io/acme")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    print(f"Building the packages of version {__version__} into {folder} ...", file=sys.stderr)
    try:
        bill = folder / "modelplane.cdx.json"
        packages = list(build_all(folder, given.registry))
        bill.write_text(bill_of_materials(PINS))
        for file in (*packages, bill):
            print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file}")
    except (PackageError, ImageError, ComponentError) as error:
        print(f"packages: {error}", file=sys.stderr)
        return 1
    print(f"Built {len(packages)} packages and the bill of materials of their image.", file=sys.stderr)
    print(describe_push(folder, given.registry), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
