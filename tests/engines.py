"""Where the tests find the real components: binaries and sources, built or fetched when they are missing."""

import functools
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ("crossplane", "github.com/crossplane/crossplane/v2")
PROVIDER = ("provider-kubernetes", "github.com/crossplane-contrib/provider-kubernetes")


def _ask(*arguments: str) -> Path:
    # What the tool says while it builds goes to the tests' standard error, which pytest shows when a test fails.
    command = [sys.executable, str(ROOT / "tools" / "engines.py"), *arguments]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Path(answer.stdout.strip())


@functools.cache
def path(name: str) -> Path:
    """Return the path of a binary: "crossplane" (the CLI), "crossplane-core" or "render-descriptor"."""
    return _ask("path", name)


@functools.cache
def source(engine_set: str, module: str) -> Path:
    """Return the folder of a module's source, at the version that an engine set pins."""
    return _ask("source", engine_set, module)


def core_crds() -> Path:
    """Return the folder of Crossplane's own CRDs: Composition, Configuration, Function and the like."""
    return source(*CORE) / "cluster" / "crds"


def provider_crds() -> Path:
    """Return the folder of provider-kubernetes' CRDs: Object, ClusterProviderConfig and the like."""
    return source(*PROVIDER) / "package" / "crds"


def core_meta_crds() -> Path:
    """Return the folder of the CRDs that define package metadata."""
    return source(*CORE) / "cluster" / "meta"
