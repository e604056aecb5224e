"""The bill of materials of the functions' image: every pinned wheel and Debian package, as CycloneDX 1.6 in JSON.

It is made from the pins alone: without timestamp and serial number, so the same pins give the same bytes.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modelplane import __version__

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def _sha256(digests: list[str]) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest} for digest in digests]


def wheels(lock: str) -> Iterator[dict[str, Any]]:
    """Yield the component of each requirement of a pip lock, with the hashes of all its files: one is installed."""
    for entry in lock.replace("\\\n", " ").splitlines():
        if pin := _PIN.match(entry):
            name, version = pin[1], pin[2]
            url = f"https://pypi.org/project/{name}/{version}/"
            files = {"type": "distribution", "url": url, "hashes": _sha256(_HASH.findall(entry))}
            purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
            yield _component(name, version, purl) | {"externalReferences": [files]}


def debian_packages(lock: str) -> Iterator[dict[str, Any]]:
    """Yield the component of each Debian package of a lock, with the hash of its file."""
    for entry in lock.splitlines():
        if entry and not entry.startswith("#"):
            name, version, digest = entry.split()
            escaped = version.replace(":", "%3A").replace("+", "%2B").replace("~", "%7E")
            purl = f"pkg:deb/debian/{name}@{escaped}?arch=amd64&distro=debian-12"
            yield _component(name, version, purl) | {"hashes": _sha256([digest])}


def _component(name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}


def bill_of_materials(pins: Path) -> str:
    """Return the bill of materials of the image that is built from the locks of a folder."""
    found = [
        *wheels((pins / "requirements.lock").read_text()),
        *debian_packages((pins / "debian.lock").read_text()),
    ]
    image = {"type": "container", "name": "modelplane", "version": __version__, "bom-ref": "modelplane"}
    parts = [{"ref": "modelplane", "dependsOn": [each["bom-ref"] for each in found]}]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": image},
        "components": found,
        "dependencies": parts,
    }
    return json.dumps(bom, indent=2) + "\n"
