"""Validation of manifests by the real `crossplane resource validate`, offline."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from modelplane_dev import components


def validate(manifests: Path, schemas: Iterable[Path], cache: Path) -> str:
    """Return what the CLI finds wrong with the manifests of a file or folder, "" for nothing.

    `schemas` are folders with XRDs or CRDs; a kind that none of them knows is wrong too. `cache` is a scratch folder.
    """
    command = [str(components.path("crossplane")), "resource", "validate", ",".join(map(str, schemas)), str(manifests)]
    flags = ["--crossplane-image=", f"--cache-dir={cache}", "--error-on-missing-schemas", "--skip-success-results"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
