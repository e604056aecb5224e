"""Builds what is installed on a control cluster into dist/: the Configuration, and a package for each function.

    python -m modelplane_dev.packages [--registry HOST/PATH] [FOLDER]

builds all packages into a folder (dist/ when none is named), and the bill of materials of their image beside them
(modelplane.cdx.json), and prints their digests; the registry is where they will be pushed.
"""

import argparse
import hashlib
import sys
from pathlib import Path

from modelplane_dev.components import ComponentError
from modelplane_dev.folders import ROOT
from modelplane_dev.packages.image import PINS, ImageError
from modelplane_dev.packages.sbom import bill_of_materials
from modelplane_dev.packages.xpkg import PackageError, build_all


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build what is installed on a control cluster.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--registry", default="", help="where the packages will be pushed, for example ghcr.io/acme")
    given = parser.parse_args()
    try:
        bill = given.folder / "modelplane.cdx.json"
        packages = list(build_all(given.folder, given.registry))
        bill.write_text(bill_of_materials(PINS))
        for file in (*packages, bill):
            print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file}")
    except (PackageError, ImageError, ComponentError) as error:
        print(f"packages: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
