"""Modelplane's XRDs and Compositions, from a source checkout or an installed wheel."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

Manifest = dict[str, Any]

#: The copies of apis/ and compositions/ in the wheel (pyproject.toml, force-include).
PACKAGED = resources.files("modelplane.reading") / "packaged"
CHECKOUT = Path(__file__).resolve().parents[3]


@cache
def xrds() -> Mapping[str, Manifest]:
    """Return the CompositeResourceDefinition of each own kind, by kind. Shared: must not be changed."""
    return MappingProxyType({xrd["spec"]["names"]["kind"]: xrd for xrd in _manifests("apis")})


@cache
def compositions() -> Mapping[str, Manifest]:
    """Return the Composition of each kind that has one, by kind. Shared: must not be changed."""
    return MappingProxyType({item["spec"]["compositeTypeRef"]["kind"]: item for item in _manifests("compositions")})


def _manifests(folder: str) -> Iterator[Manifest]:
    packaged = PACKAGED / folder
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in _files(packaged if packaged.is_dir() else CHECKOUT / folder):
        yield from (document for document in yaml.load_all(path.read_text(), loader) if document)


def _files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.endswith(".yaml"):
            yield entry
