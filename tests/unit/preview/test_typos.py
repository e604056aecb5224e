"""A typo in any field of ours is refused, and the field that is not known is named."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane, InvalidObject
from modelplane_dev.folders import ROOT

Manifest = dict[str, Any]
Path = tuple[str | int, ...]
#: Fields whose keys are the user's.
FREE = {"annotations", "attributes", "capacity", "headers", "labels", "matchLabels", "replicaLabels"}


def given() -> Iterator[Manifest]:
    """Yield the manifests of examples, of the tour, and of the cases of each kind."""
    folders = (ROOT / folder for folder in ("examples", "docs/tour", "tests/unit/api/cases"))
    for file in sorted(file for folder in folders for file in folder.rglob("*.yaml")):
        for found in yaml.safe_load_all(file.read_text()):
            yield found.get("object", found)


def fields(value: Any, path: Path) -> Iterator[Path]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        if isinstance(key, str):
            yield (*path, key)
        if key not in FREE:
            yield from fields(below, (*path, key))


def kinds() -> dict[str, list[tuple[Manifest, Path]]]:
    """Return of each kind the fields that manifests of it have, once each."""
    found: dict[str, dict[Path, tuple[Manifest, Path]]] = {}
    for manifest in given():
        for path in fields(manifest["spec"], ("spec",)):
            anywhere = tuple("*" if isinstance(key, int) else key for key in path)
            found.setdefault(manifest["kind"], {}).setdefault(anywhere, (manifest, path))
    return {kind: list(each.values()) for kind, each in found.items()}


KINDS = kinds()


@pytest.mark.proves("P121")
@pytest.mark.parametrize("kind", KINDS)
def test_a_typo_in_any_field_is_refused_and_named(kind: str) -> None:
    for manifest, path in KINDS[kind]:
        typed = copy.deepcopy(manifest)
        holder: Any = typed
        for key in path[:-1]:
            holder = holder[key]
        holder[f"{path[-1]}x"] = holder.pop(path[-1])
        with pytest.raises(InvalidObject, match=f"{path[-1]}x"):
            ControlPlane().apply(typed)


def test_the_kinds_that_users_write_are_tried() -> None:
    of_teams = {"ModelDeployment", "ModelReplica", "ModelEndpoint", "ModelService", "ModelCache"}
    assert set(KINDS) >= of_teams | {"InferenceClass", "InferenceCluster", "ClusterModel"}
