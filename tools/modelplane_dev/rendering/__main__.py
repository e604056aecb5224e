"""Composes one of our objects on the real Crossplane engine, offline: `python -m modelplane_dev.rendering MANIFEST`.

The first composite in the manifest is rendered by the Composition of its kind, as in its first pass, with our functions
as local processes. What else the control cluster holds is what `modelplane preview` makes of the manifests in PATH. The
exit code is that of `crossplane composition render`, or 2 if it was not called.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from modelplane_dev import components
from modelplane_dev.processes.functions import MODELPLANE, Functions
from modelplane_dev.processes.process import ProcessError
from modelplane_dev.rendering.composing import CrossplaneBinaries, Manifest, NotComposedError, composite_in, render


def others(composite: Manifest, beside: list[str]) -> list[Manifest]:
    """Return what the control cluster holds besides a composite, as a preview leaves it. Raises NotComposedError."""
    if not beside:
        return []
    # Exit code 1 says that something could not be placed, which does not matter here.
    done = subprocess.run([str(MODELPLANE), "preview", *beside, "-o", "json"], stdout=subprocess.PIPE, check=False)
    if done.returncode not in {0, 1}:
        raise NotComposedError(f"there is no preview of {', '.join(beside)}")
    found: list[Manifest] = json.loads(done.stdout)["objects"]
    own = {each["metadata"]["uid"] for each in found if identity(each) == identity(composite)}
    return [each for each in found if own.isdisjoint({each["metadata"]["uid"], *owners(each)})]


def identity(obj: Manifest) -> tuple[str, str, str]:
    """Return kind, namespace and name; an object without a namespace is in `default` or cluster-scoped."""
    metadata = obj["metadata"]
    return obj["kind"], metadata.get("namespace") or "default", metadata["name"]


def owners(obj: Manifest) -> list[str]:
    """Return the uids of an object's owners."""
    return [each["uid"] for each in obj["metadata"].get("ownerReferences", ())]


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Compose one of our objects on the real Crossplane engine, offline.")
    parser.add_argument("manifest", type=Path, help="file with the composite")
    parser.add_argument("--beside", nargs="*", default=[], metavar="PATH", help="what else the control cluster holds")
    arguments = parser.parse_args()
    try:
        binaries = CrossplaneBinaries(cli=components.path("crossplane"), core=components.path("crossplane-core"))
        composite = composite_in(arguments.manifest)
        held = others(composite, arguments.beside)
        with tempfile.TemporaryDirectory(prefix="modelplane-functions-") as logs, Functions(Path(logs)) as running:
            done = render(composite, running, binaries, others=held)
    except (NotComposedError, ProcessError, components.ComponentError) as error:
        print(f"rendering: {error}", file=sys.stderr)
        return 2
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
