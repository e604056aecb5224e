"""One composite through `crossplane composition render`, with our functions as local processes."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from modelplane_dev.folders import ROOT
from modelplane_dev.processes.functions import Functions
from modelplane_dev.processes.process import START

Manifest = dict[str, Any]


class NotComposedError(Exception):
    """Nothing can be rendered; the text says why."""


@dataclass(frozen=True, slots=True)
class CrossplaneBinaries:
    """The binaries of Crossplane's command line and of its core."""

    cli: Path
    core: Path


def documents(path: Path) -> Iterator[Manifest]:
    """Yield the objects in a file or in all files of a folder."""
    for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
        yield from (found for found in yaml.safe_load_all(file.read_text()) if isinstance(found, dict))


def composition_of(kind: str) -> Manifest | None:
    """Return the Composition of a kind of ours, None where there is none."""
    found = documents(ROOT / "compositions")
    return next((each for each in found if each["spec"]["compositeTypeRef"]["kind"] == kind), None)


def definition_of(kind: str) -> Manifest:
    """Return the XRD of a kind of ours."""
    return next(each for each in documents(ROOT / "apis") if each["spec"]["names"]["kind"] == kind)


def composite_in(manifest: Path) -> Manifest:
    """Return the first object of a file that a Composition composes. Raises NotComposedError."""
    if not manifest.is_file():
        raise NotComposedError(f"there is no file {manifest}")
    for found in documents(manifest):
        if composition_of(str(found.get("kind"))) is not None:
            return found
    raise NotComposedError(f"{manifest}: no object of a kind that a Composition composes")


def render(
    composite: Manifest,
    running: Functions,
    binaries: CrossplaneBinaries,
    *,
    others: Iterable[Mapping[str, Any]] = (),
    composition: Mapping[str, Any] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Return what the CLI prints for a composite's first pass; `others` is what the control cluster holds besides it.

    `composition` is the one to use, that of the tree if none is given.
    """
    composition = composition or composition_of(composite["kind"])
    if composition is None:
        raise NotComposedError(f"no Composition composes a {composite['kind']}")
    names = dict.fromkeys(step["functionRef"]["name"] for step in composition["spec"]["pipeline"])
    inputs: dict[str, Iterable[Mapping[str, Any]]] = {
        "composite": [composite],
        "composition": [composition],
        "functions": [_function(name, running.address(name)) for name in names],
        "xrd": [definition_of(composite["kind"])],
        "others": others,
    }
    with TemporaryDirectory(prefix="modelplane-render-") as scratch:
        files = {name: Path(scratch) / f"{name}.yaml" for name in inputs}
        for name, found in inputs.items():
            files[name].write_text(yaml.safe_dump_all(found))
        command = [str(binaries.cli), "composition", "render"]
        command += [str(files[name]) for name in ("composite", "composition", "functions")]
        flags = [
            f"--xrd={files['xrd']}",
            f"--required-resources={files['others']}",
            f"--crossplane-binary={binaries.core}",
            f"--timeout={START:.0f}s",
        ]
        return subprocess.run([*command, *flags], capture_output=True, text=True, check=False)


def _function(name: str, address: str) -> Manifest:
    """Return the Function that tells the CLI where a local process listens."""
    runtime = "render.crossplane.io/runtime"
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name, "annotations": {runtime: "Development", f"{runtime}-development-target": address}},
        "spec": {"package": f"{name}:local"},
    }
