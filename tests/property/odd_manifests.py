"""Strategies: composed Objects whose manifests hold values of any type, which an API server admits."""

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from bench.passes import Scene
from unit.secrecy.marked import scenes

Manifest = dict[str, Any]

#: The two places of an Object whose content no schema bounds: what is applied, and what was seen.
MANIFESTS: Final = (("spec", "forProvider", "manifest"), ("status", "atProvider", "manifest"))
#: Fields that something reads of a manifest.
_FIELDS: Final = (
    (),
    *(("metadata", *rest) for rest in ((), ("name",), ("labels",), ("annotations",), ("ownerReferences",))),
    *(("spec", *rest) for rest in ((), ("replicas",), ("template",), ("rules",), ("leaderWorkerTemplate",))),
    *(("status", *rest) for rest in ((), ("conditions",), ("addresses",), ("readyReplicas",), ("ready",))),
    ("apiVersion",),
    ("kind",),
    ("data",),
    ("metadata", "generation"),
)
PATHS: Final = tuple((*manifest, *field) for manifest in MANIFESTS for field in _FIELDS)
_SCALARS = st.sampled_from([None, True, 5, 1.5, "x", "Secret", "Deployment"])
VALUES: Final = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "uid", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@cache
def settled() -> tuple[Scene, ...]:
    """Return the composites of a settled fleet that have composed Objects."""
    return tuple(scene for scene in scenes() if any(obj["kind"] == "Object" for obj in scene.observed.values()))


def with_values(observed: Mapping[str, Manifest], values: Mapping[tuple[str, tuple[str, ...]], Any]) -> Any:
    """Return observed objects with other values at (resource, path); a field on the way that is no map becomes one."""
    edited = copy.deepcopy(dict(observed))
    for (resource, path), value in values.items():
        at = edited[resource]
        for name in path[:-1]:
            if not isinstance(at.get(name), dict):
                at[name] = {}
            at = at[name]
        at[path[-1]] = value
    return edited


@st.composite
def edits(draw: st.DrawFn, observed: Mapping[str, Manifest]) -> dict[tuple[str, tuple[str, ...]], Any]:
    """Draw odd values for a few fields of the observed Objects."""
    objects = sorted(resource for resource, obj in observed.items() if obj["kind"] == "Object")
    return draw(
        st.dictionaries(st.tuples(st.sampled_from(objects), st.sampled_from(PATHS)), VALUES, min_size=1, max_size=6)
    )
