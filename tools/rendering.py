"""Composes one of our objects on the real Crossplane engine, offline: `rendering.py MANIFEST [--beside PATH...]`.

The first composite in the manifest is rendered by the Composition of its kind, with our functions as local processes,
as in its first pass. What else the control cluster holds is what `modelplane preview` makes of the manifests in PATH.
Ends with the exit code of `crossplane composition render`, 2 where it was not called.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import engines
from processes import MODELPLANE, Functions, StartError

ROOT = Path(__file__).resolve().parent.parent

Manifest = dict[str, Any]


class RenderError(Exception):
    """Nothing can be rendered; the text says why."""


def documents(folder: Path) -> Iterator[Manifest]:
    """Yield the objects in a file or in all files of a folder."""
    for file in sorted(folder.rglob("*.yaml")) if folder.is_dir() else [folder]:
        yield from (found for found in yaml.safe_load_all(file.read_text()) if isinstance(found, dict))


def composition_of(kind: str) -> Manifest | None:
    """Return the Composition of a kind of ours, None where there is none."""
    found = documents(ROOT / "compositions")
    return next((each for each in found if each["spec"]["compositeTypeRef"]["kind"] == kind), None)


def definition_of(kind: str) -> Manifest:
    """Return the XRD of a kind of ours that has a Composition."""
    return next(each for each in documents(ROOT / "apis") if each["spec"]["names"]["kind"] == kind)


def composite_in(manifest: Path) -> tuple[Manifest, Manifest]:
    """Return the first object that a Composition composes, and that Composition. Raises RenderError."""
    if not manifest.is_file():
        raise RenderError(f"there is no file {manifest}")
    for found in documents(manifest):
        composition = composition_of(str(found.get("kind")))
        if composition is not None:
            return found, composition
    raise RenderError(f"{manifest}: no object of a kind that a Composition composes")


def function(name: str, address: str) -> Manifest:
    """Return the Function that tells the CLI where a local process listens."""
    runtime = "render.crossplane.io/runtime"
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name, "annotations": {runtime: "Development", f"{runtime}-development-target": address}},
        "spec": {"package": f"{name}:local"},
    }


def others(composite: Manifest, beside: list[str]) -> list[Manifest]:
    """Return what the control cluster holds besides a composite, as a preview leaves it. Raises RenderError."""
    if not beside:
        return []
    # Exit code 1 says that something could not be placed, which does not matter here.
    done = subprocess.run([str(MODELPLANE), "preview", *beside, "-o", "json"], stdout=subprocess.PIPE, check=False)
    if done.returncode not in {0, 1}:
        raise RenderError(f"there is no preview of {', '.join(beside)}")
    found: list[Manifest] = json.loads(done.stdout)["objects"]
    own = [each["metadata"]["uid"] for each in found if identity(each) == identity(composite)]
    return [each for each in found if not {each["metadata"]["uid"], *owners(each)} & {*own}]


def identity(obj: Manifest) -> tuple[str, str, str]:
    """Return kind, namespace and name; an object without a namespace is in `default` or cluster-scoped."""
    metadata = obj["metadata"]
    return obj["kind"], metadata.get("namespace") or "default", metadata["name"]


def owners(obj: Manifest) -> list[str]:
    """Return the uids of an object's owners."""
    return [each["uid"] for each in obj["metadata"].get("ownerReferences", ())]


def render(manifest: Path, beside: list[str]) -> int:
    """Render a manifest to standard output and return the exit code. Raises RenderError, BuildError, StartError."""
    composite, composition = composite_in(manifest)
    names = dict.fromkeys(step["functionRef"]["name"] for step in composition["spec"]["pipeline"])
    with tempfile.TemporaryDirectory(prefix="modelplane-render-") as scratch, Functions(Path(scratch)) as running:
        inputs = {
            "composite": [composite],
            "composition": [composition],
            "functions": [function(name, running.address(name)) for name in names],
            "xrd": [definition_of(composite["kind"])],
            "others": others(composite, beside),
        }
        files = {name: Path(scratch) / f"{name}.yaml" for name in inputs}
        for name, found in inputs.items():
            files[name].write_text(yaml.safe_dump_all(found))
        command = [str(engines.path("crossplane")), "composition", "render"]
        command += [str(files[name]) for name in ("composite", "composition", "functions")]
        command += [f"--xrd={files['xrd']}", f"--required-resources={files['others']}"]
        command += [f"--crossplane-binary={engines.path('crossplane-core')}"]
        return subprocess.run(command, check=False).returncode


def main() -> int:
    """Carry out the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Compose one of our objects on the real Crossplane engine, offline.")
    parser.add_argument("manifest", type=Path, help="file with the composite")
    parser.add_argument("--beside", nargs="*", default=[], metavar="PATH", help="what else the control cluster holds")
    arguments = parser.parse_args()
    try:
        return render(arguments.manifest, arguments.beside)
    except (RenderError, StartError, engines.BuildError) as error:
        print(f"render: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
